import { randomUUID } from 'node:crypto'
import type { ContentMark } from '../../../../schemas/content-mark.ts'
import { Failure, problem } from '../../../../schemas/failure.ts'
import { isRecord, type Json, type JsonObject } from '../../../../schemas/json.ts'
import { nearest } from '../../../../schemas/nearest.ts'
import { inputRequiredIn } from '../../../../schemas/task.ts'
import { stringify } from '../../shared/stringify.ts'
import { failureOf, type TransportContext } from '../../shared/transport-context.ts'
import { Fault, faults } from '../protocol-2026/fault.ts'
import type { Exchange } from '../protocol-2026/protocol.ts'
import { invalidField } from './ask.ts'
import type { Tool } from './tools.ts'

/** The outcome of a tool: the output of its action with its mark, or the failure with the id of the call. */
type Outcome =
  | { readonly output: Json; readonly mark?: ContentMark }
  | { readonly failure: Failure; readonly id: string }

/** Calls tools, for every protocol version. Throws Fault -32602 for an unknown tool. */
export type CallTool = (params: Readonly<Record<string, unknown>>, exchange: Exchange) => Promise<Outcome>

export function createCallTool(context: TransportContext, tools: ReadonlyMap<string, Tool>): CallTool {
  return async (params, { caller, signal, notify }) => {
    const { name, arguments: input = {}, _meta } = params
    if (typeof name !== 'string') throw invalidField('/name', 'This must be a string.')
    if (!isRecord(input)) throw invalidField('/arguments', 'This must be an object.')
    const tool = tools.get(name)
    if (!tool) throw unknownTool(name, tools)
    const id = randomUUID()
    const progressToken = isRecord(_meta) ? _meta.progressToken : undefined
    try {
      const call = {
        principal: await caller.identify(),
        client: caller.client,
        signal,
        id,
        ...(progressToken !== undefined && {
          receives: 'progress' as const,
          async emit(update: object) {
            if ('progress' in update) await notify('notifications/progress', { progressToken, ...update })
          },
        }),
      }
      const { output, mark } = await context.dispatch(tool.toEnvelope(input), call)
      return { output: withNext(output), ...(mark && { mark }) }
    } catch (thrown) {
      return { failure: failureOf(context, thrown), id }
    }
  }
}

/** An answer that asks back states how to go on. */
function withNext(output: Json): Json {
  if (!inputRequiredIn(output)) return output
  return { ...(output as JsonObject), next }
}

const next =
  'Find the answer, then call the tool continue_task with this task_id and input: {"text": "…"} for an answer in words.'

/** The result of a successful tool, as an object. */
export function succeeded(
  output: Json,
  mark?: ContentMark,
): { readonly content: object[]; readonly structuredContent: Json } {
  return {
    content: [{ type: 'text', text: stringify(output) }],
    structuredContent: structured(output),
    ...(mark && { _meta: markMeta(mark) }),
  }
}

/** The mark of an output from a third party as members of `_meta`. */
export function markMeta({ content_trust, content_flags }: ContentMark): object {
  return {
    'dragoman/content_trust': content_trust,
    ...(content_flags && { 'dragoman/content_flags': content_flags }),
  }
}

function structured(output: Json): Json {
  return isRecord(output) ? output : { output }
}

const written = new WeakMap<object, string>()

/**
 * The result of a successful tool as JSON without braces. A frozen output never changes, so its text is cached while
 * the output is in use.
 */
export function writeSucceeded(output: Json): string {
  if (typeof output !== 'object' || output === null || !Object.isFrozen(output)) return membersOf(output)
  const cached = written.get(output)
  if (cached !== undefined) return cached
  const made = membersOf(output)
  written.set(output, made)
  return made
}

function membersOf(output: Json): string {
  const text = stringify(output)
  const shown = isRecord(output) ? text : `{"output":${text}}`
  return `"content":[{"type":"text","text":${JSON.stringify(text)}}],"structuredContent":${shown}`
}

/** A failed call is a result, so that the model reads it. */
export function failedResult({ failure, id }: { failure: Failure; id: string }): object {
  return problemResult({ ...problem(failure, id) })
}

/** A problem as the result of a tool: its text leaves out the members that tell a model nothing. */
export function problemResult(whole: Readonly<Record<string, unknown>>): object {
  const { type: _type, title: _title, instance: _instance, ...shown } = whole
  return {
    content: [{ type: 'text', text: JSON.stringify(shown) }],
    isError: true,
    _meta: { 'dragoman/problem': whole },
  }
}

function unknownTool(name: string, tools: ReadonlyMap<string, Tool>): Fault {
  const close = nearest(name, tools.keys())
  const failure = new Failure(
    'unknown_action',
    `The tool ${name} is unknown.`,
    close.length > 0 ? { nearest: close } : {},
  )
  return new Fault(faults.invalidParams, failure.message, { data: problem(failure, randomUUID()) })
}
