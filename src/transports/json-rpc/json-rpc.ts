import type { JSONRPCResponse } from 'json-rpc-2.0'
import type { Update } from '../../../schemas/action.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { JsonObject } from '../../../schemas/json.ts'
import type { Principal } from '../../../schemas/scope.ts'
import type { Call } from '../../router/call.ts'
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
import { cancelMethod } from './in-flight.ts'
import { createMethods, unknownMethod } from './methods.ts'
import { openRpc } from './openrpc.ts'

/**
 * The members of a call that the requests of a batch share. Each request has its own id, and the caller is
 * identified for each request.
 */
interface Caller extends Omit<Call, 'id' | 'principal' | 'emit'> {
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
    if ('failure' in request) return errorFrame(request.failure, requestId, request.id, invalidRequest)
    const { id, method } = request
    if (refusal && id !== undefined) return errorFrame(refusal, requestId, id)
    if (method === cancelMethod && caller.cancel) {
      const cancelled = caller.cancel(request.params.id)
      return id === undefined ? undefined : JSON.stringify({ jsonrpc: '2.0', result: { cancelled }, id })
    }
    if (!methods.hasMethod(method)) {
      return id === undefined ? undefined : errorFrame(unknownMethod(method, agents), requestId, id)
    }
    const { identify, notify, cancel: _, ...rest } = caller
    try {
      const canNotify = notify && id !== undefined
      const emit = canNotify && ((update: Update) => notify(updateFrame(update, id)))
      const call = { ...rest, principal: await identify(), id: requestId, ...(emit && { emit }) }
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
    const answers = await answerMembers(frames, (frame, refusal) => answerOne(frame, silent, refusal))
    return answers.length > 0 ? `[${answers.join(',')}]` : undefined
  }

  return async (message, caller) => {
    if (message instanceof Failure) return errorFrame(message, createId(), null, parseError)
    return Array.isArray(message) ? answerBatch(message, caller) : answerOne(message, caller)
  }
}

function write(response: JSONRPCResponse, requestId: string, id: RpcId): string {
  if (response.error) return JSON.stringify(response)
  try {
    return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${stringify(response.result)}}`
  } catch (thrown) {
    return errorFrame(Failure.from(thrown), requestId, id)
  }
}

/** The message in a text, or the Failure for its answer. */
export function readMessage(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (fault) {
    const detail = fault instanceof Error ? fault.message : ''
    return new Failure('invalid_request', 'The message is not JSON.', { errors: [{ pointer: '', detail }] })
  }
}

/** Members of one batch that are answered at the same time. */
const maxConcurrent = 4
/** Total length of the answers of one batch, in characters; an answer that has begun may exceed it. */
const maxAnswersLength = 4 * 1024 * 1024

/** Answers one member, with `refusal` instead of its result if there is one. */
type AnswerMember = (frame: unknown, refusal: Failure | undefined) => Promise<string | undefined>

/** The answers to the members of a batch, in order, without notifications. */
async function answerMembers(frames: readonly unknown[], answer: AnswerMember): Promise<string[]> {
  const answers: (string | undefined)[] = []
  let begun = 0
  let length = 0

  async function work(): Promise<void> {
    while (begun < frames.length) {
      const index = begun++
      const refusal = length > maxAnswersLength ? tooLarge() : undefined
      answers[index] = await answer(frames[index], refusal)
      length += answers[index]?.length ?? 0
    }
  }
  await Promise.all(Array.from({ length: maxConcurrent }, work))
  return answers.filter((text) => text !== undefined)
}

function tooLarge(): Failure {
  return new Failure(
    'too_large',
    `The answers before this one are longer than ${maxAnswersLength} characters.`,
    {
      hint: 'Send this request in another batch.',
    },
  )
}
