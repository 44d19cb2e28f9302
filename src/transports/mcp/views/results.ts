import type { Content } from '../../../../schemas/content.ts'
import { type ContentMark, contentMark } from '../../../../schemas/content-mark.ts'
import { type Failure, problem } from '../../../../schemas/failure.ts'
import { isRecord, type Json } from '../../../../schemas/json.ts'
import { actionsInProse } from '../../../../schemas/names.ts'
import { resultOf } from '../../shared/content.ts'
import { stringify } from '../../shared/stringify.ts'
import type { McpCaller } from '../protocol-2026/protocol.ts'

export interface FailedCall {
  readonly failure: Failure
  readonly id: string
  /** The agent that was called, as the caller names it. */
  readonly agent?: string | undefined
}

/** What a listed agent said, as a result of MCP. */
function passedResult(content: Content, mark: ContentMark, more: object = {}): object {
  const { _meta, ...result } = resultOf(content)
  return { ...result, _meta: { ...(isRecord(_meta) && _meta), ...more, ...markMeta(mark) } }
}

/** The result of a successful tool, as an object. */
export function succeeded(output: Json, mark?: ContentMark, content?: Content): object {
  if (content) return passedResult(content, mark ?? contentMark(null))
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

/** Where the user of a model acts: at a terminal, if commands are known as typed there, else on the pages of the gateway. */
interface UserPlace extends Pick<McpCaller, 'asTyped'> {
  readonly base_url: string
}

/** A failed call is a result, so that the model reads it, with commands as the user of the caller types them. */
export function failedResult({ failure, id, agent }: FailedCall, place: UserPlace): object {
  const { content } = failure
  if (content?.protocol === 'mcp') {
    return passedResult(content, contentMark(content.result), { 'dragoman/problem': problem(failure, id) })
  }
  return problemResult({ ...problem(failure, id) }, place, agent)
}

/** Members of a problem that tell a model nothing about what to do. */
const forPrograms = new Set(['type', 'title', 'status', 'instance', 'upstream', 'manifest_url', 'endpoints'])

/** The detail of a problem and its errors; all in the detail if that is the first of them. */
function wordsOf({ detail, errors }: Readonly<Record<string, unknown>>): object {
  if (!Array.isArray(errors)) return {}
  const [first, ...others] = errors.filter(isRecord).map((error) => `${error.pointer}: ${error.detail}`)
  if (first === undefined || !String(detail).startsWith(first)) return {}
  if (others.length > 0 && detail !== first) return {}
  return { detail: [detail, ...others].join(' '), errors: undefined }
}

/** A problem as the result of a tool: its text leaves out the members that tell a model nothing. */
export function problemResult(
  whole: Readonly<Record<string, unknown>>,
  place: UserPlace,
  agent?: string,
): object {
  const { hint, ...members } = whole
  const shown = Object.entries(members).filter(([name]) => !forPrograms.has(name))
  const { asTyped = (text: string) => text } = place
  const hints = typeof hint === 'string' ? [hint] : []
  if (hints.some((text) => text.search(forUsers) >= 0)) hints.push(userStores(place, agent))
  const typed = hints.length > 0 ? { hint: asTyped(hints.join(' ')) } : {}
  return {
    content: [
      {
        type: 'text',
        text: JSON.stringify({
          ...Object.fromEntries(shown),
          ...wordsOf(whole),
          ...typed,
        }),
      },
    ],
    isError: true,
    _meta: { 'dragoman/problem': whole },
  }
}

/** A model may not handle a secret (`src/router/model-rights.ts`). */
const forUsers = actionsInProse(['set_credential'])

function userStores({ asTyped, base_url }: UserPlace, agent: string | undefined): string {
  const where = asTyped
    ? `at a terminal: dragoman credentials set ${agent ?? 'AGENT'}`
    : `on the page ${base_url}/me/connections`
  const whose = agent === undefined ? 'this agent' : agent
  return `Models may not call it. Do not ask the user for the secret; tell the user to store it for ${whose} ${where}`
}
