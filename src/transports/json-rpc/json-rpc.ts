import type { JSONRPCResponse } from 'json-rpc-2.0'
import type { Update } from '../../../schemas/action.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { JsonObject } from '../../../schemas/json.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { stringify } from '../shared/stringify.ts'
import { failureOf, type TransportContext } from '../shared/transport-context.ts'
import {
  errorFrame,
  invalidRequest,
  maximumBatch,
  notARequest,
  parseError,
  type RpcId,
  readRequest,
  updateFrame,
} from './frames.ts'
import { cancelMethod, cancelParams } from './in-flight.ts'
import { createMethods, type MethodCall, unknownMethod } from './methods.ts'
import { openRpc } from './openrpc.ts'

/**
 * The members of a call that the requests of a batch share. Each request has its own id, and the caller is
 * identified for each request.
 */
interface Caller extends Omit<MethodCall, 'id' | 'principal' | 'emit'> {
  identify(): Principal | null | Promise<Principal | null>
  /** Sends a notification; resolves when the caller can take more. Absent if the transport cannot send one. */
  readonly notify?: (text: string) => Promise<void>
  /** Cancels a request of the same connection. Absent if requests are cancelled only by disconnecting. */
  readonly cancel?: (id: unknown) => boolean
}

/** Answers one message from `readMessage`, a request or a batch; undefined if it needs no answer. */
type AnswerMessage = (message: unknown, caller: Caller) => Promise<string | undefined>

/** JSON-RPC 2.0 over any transport of text. `createId` names each request; `version` is the product's. */
export function createJsonRpc(
  context: TransportContext,
  version: string,
  createId: () => string,
): AnswerMessage {
  const { dispatch, agents, count } = context
  let described: { readonly at: string; readonly document: JsonObject } | undefined

  /** Frozen, so that its text is made once too. */
  function describe(): JsonObject {
    const at = context.site().base_url
    if (described?.at !== at) described = { at, document: Object.freeze(openRpc(agents, version, at)) }
    return described.document
  }

  const methods = createMethods({ dispatch, agents, count, describe })

  async function answerOne(frame: unknown, caller: Caller, refusal?: Failure): Promise<string | undefined> {
    const requestId = createId()
    const request = readRequest(frame)
    const { id } = request
    if (refusal && 'method' in request && id !== undefined) return errorFrame(refusal, requestId, id)
    try {
      if ('method' in request && request.method === cancelMethod && caller.cancel) {
        const cancelled = caller.cancel(cancelParams.parse(request.params).id)
        return id === undefined ? undefined : JSON.stringify({ jsonrpc: '2.0', result: { cancelled }, id })
      }
      const call = await callOf(caller, requestId, id)
      if ('failure' in request) {
        await count(call)
        return errorFrame(request.failure, requestId, request.id, request.code)
      }
      if (!methods.hasMethod(request.method)) {
        await count(call)
        throw unknownMethod(request.method, agents)
      }
      const response = await methods.receive(request, call)
      return response && id !== undefined ? write(response, requestId, id) : undefined
    } catch (thrown) {
      const failure = failureOf(context, thrown)
      return id === undefined ? undefined : errorFrame(failure, requestId, id)
    }
  }

  async function answerBatch(frames: readonly unknown[], caller: Caller): Promise<string | undefined> {
    if (frames.length === 0)
      return errorFrame(notARequest('', 'A batch is not empty.'), createId(), null, invalidRequest)
    if (frames.length > maximumBatch) {
      const failure = notARequest('', `A batch holds at most ${maximumBatch} requests, not ${frames.length}.`)
      return errorFrame(failure, createId(), null, invalidRequest)
    }
    const { notify: _, ...silent } = caller
    const max = await maxAnswersLength(caller)
    const answers = await answerMembers(frames, max, (frame, refusal) => answerOne(frame, silent, refusal))
    return answers.length > 0 ? `[${answers.join(',')}]` : undefined
  }

  return async (message, caller) => {
    if (message instanceof Failure) {
      const code = message.code === 'invalid_request' ? parseError : undefined
      return errorFrame(message, createId(), null, code)
    }
    return Array.isArray(message) ? answerBatch(message, caller) : answerOne(message, caller)
  }
}

async function callOf(
  { identify, notify, cancel: _, ...rest }: Caller,
  requestId: string,
  id?: RpcId,
): Promise<MethodCall> {
  const emit = notify && id !== undefined && ((update: Update) => notify(updateFrame(update, id)))
  return { ...rest, principal: await identify(), id: requestId, ...(emit && { emit }) }
}

function write(response: JSONRPCResponse, requestId: string, id: RpcId): string {
  if (response.error) return JSON.stringify(response)
  try {
    return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${stringify(response.result)}}`
  } catch (thrown) {
    return errorFrame(Failure.from(thrown), requestId, id)
  }
}

/** Members of one batch that are answered at the same time. */
const maxConcurrent = 4
const megabyte = 1024 * 1024

/** Total length of the answers of one batch, in characters; an answer that has begun may exceed it. */
export async function maxAnswersLength({ identify }: Pick<Caller, 'identify'>): Promise<number> {
  try {
    return (await identify()) === null ? megabyte : 4 * megabyte
  } catch {
    return megabyte
  }
}

/** Answers one member, with `refusal` instead of its result if there is one. */
type AnswerMember<Frame> = (frame: Frame, refusal: Failure | undefined) => Promise<string | undefined>

/** The answers to the members of a batch, in order, without notifications. */
export async function answerMembers<Frame>(
  frames: readonly Frame[],
  maxLength: number,
  answer: AnswerMember<Frame>,
): Promise<string[]> {
  const answers: (string | undefined)[] = []
  let begun = 0
  let length = 0

  async function work(): Promise<void> {
    while (begun < frames.length) {
      const index = begun++
      const refusal = length > maxLength ? tooLarge(maxLength) : undefined
      answers[index] = await answer(frames[index] as Frame, refusal)
      length += answers[index]?.length ?? 0
    }
  }
  await Promise.all(Array.from({ length: maxConcurrent }, work))
  return answers.filter((text) => text !== undefined)
}

function tooLarge(maxLength: number): Failure {
  return new Failure('too_large', `The answers before this one are longer than ${maxLength} characters.`, {
    hint: 'Send this request in another batch.',
  })
}
