import { randomUUID } from 'node:crypto'
import { Failure } from '../../../schemas/failure.ts'
import { isRecord, type JsonObject } from '../../../schemas/json.ts'
import { isGivenUp, refusalAmong } from '../../common/mcp/questions.ts'
import type { AskCaller, McpReply, Question, RemoteCall } from '../remote-agent.ts'
import { callOver } from './exchange.ts'

/** Sends one request; `ask` is for a server that asks during the request. */
type Send = (call: RemoteCall, ask: AskCaller) => Promise<McpReply>

/** Time for which a question waits for its answer, in milliseconds: the connection is silent for as long. */
export const questionWait_ms = 10 * 60_000
const maxQuestions = 10
const maxWaiting = 256
const maxWaitingPerCaller = 8
const prefix = 'open:'

interface Waiting {
  readonly question: Question
  answer(value: JsonObject): void
}

/**
 * The calls in which a server of a legacy protocol version asked its client. Such a server asks during the call and
 * waits. The caller receives the question as a result (`input_required`, as in 2026-07-28), and its answer resumes the
 * call, which waits here, on this node.
 */
export class OpenCalls {
  readonly #calls = new Map<string, OpenCall>()

  /**
   * Sends the request, or resumes the open call that `requestState` names, or ends it for a client that has cancelled it.
   * Throws Failure `not_found`, `cancelled`, and `invalid_request` for a refusal that the server could not be told.
   */
  run(params: JsonObject, call: RemoteCall, send: Send): Promise<McpReply> {
    const { requestState, inputResponses } = params
    if (typeof requestState !== 'string' || !requestState.startsWith(prefix)) {
      if (isGivenUp(inputResponses)) throw Failure.cancelled()
      const refusal = refusalAmong(inputResponses)
      if (refusal) {
        throw new Failure('invalid_request', `The client refused the question: ${refusal.message}`)
      }
      return new OpenCall(this, call, send).next()
    }
    const open = this.#calls.get(requestState)
    if (open?.caller !== call.caller) {
      throw new Failure('not_found', 'The agent no longer waits for this answer.', {
        hint: 'A question waits for ten minutes, on the node that passed it on. Call the agent again.',
      })
    }
    if (isGivenUp(inputResponses)) throw open.cancel()
    open.attach(call)
    open.answer(isRecord(inputResponses) ? (inputResponses as JsonObject) : {})
    return open.next()
  }

  /** Throws Failure `rate_limited` when too many calls wait. */
  add(id: string, open: OpenCall): void {
    const own = [...this.#calls.values()].filter(({ caller }) => caller === open.caller)
    if (this.#calls.size >= maxWaiting || own.length >= maxWaitingPerCaller) {
      throw new Failure('rate_limited', 'Too many questions of agents wait for their answers.', {
        hint: 'Answer the open questions with continue_task first.',
      })
    }
    this.#calls.set(id, open)
  }

  remove(id: string): void {
    this.#calls.delete(id)
  }
}

/** One call to a server that may ask during the call. */
class OpenCall {
  readonly caller: string
  #id: string | undefined
  readonly #calls: OpenCalls
  readonly #over = new AbortController()
  readonly #waiting = new Map<string, Waiting>()
  readonly #reply: Promise<McpReply>
  /** The call that waits for the next result; undefined while the caller has a question. */
  #call: RemoteCall | undefined
  #detach = () => {}
  #onQuestion: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined
  #count = 0

  constructor(calls: OpenCalls, call: RemoteCall, send: Send) {
    this.caller = call.caller
    this.#calls = calls
    this.attach(call)
    const lasting: RemoteCall = {
      ...call,
      signal: this.#over.signal,
      onActivity: () => this.#call?.onActivity(),
      emit: async (update, content) => this.#call?.emit(update, content),
      ...(call.notifyClient && {
        notifyClient: async (method, params) => this.#call?.notifyClient?.(method, params),
      }),
    }
    this.#reply = send(lasting, (question) => this.#ask(question))
  }

  /** The result of the call or, if the server asks first, its questions. */
  async next(): Promise<McpReply> {
    try {
      const reply = await new Promise<McpReply | undefined>((resolve, reject) => {
        this.#onQuestion = () => resolve(undefined)
        if (this.#waiting.size > 0) this.#onQuestion()
        this.#reply.then(resolve, reject)
      })
      if (!reply) return { result: this.#suspend() }
      this.#end()
      return reply
    } catch (thrown) {
      this.#end(callOver)
      throw thrown
    }
  }

  /** From here on, the end of this call ends the request. */
  attach(call: RemoteCall): void {
    clearTimeout(this.#timer)
    // Two answers may come at once: the later call goes on.
    this.#detach()
    this.#call = call
    const { signal } = call
    const abort = () => this.#over.abort(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    this.#detach = () => signal.removeEventListener('abort', abort)
  }

  /** Ends the call at the server, and returns why. */
  cancel(): Failure {
    const reason = Failure.cancelled()
    this.#end(reason)
    return reason
  }

  answer(responses: JsonObject): void {
    for (const [key, waiting] of [...this.#waiting]) {
      const response = responses[key]
      if (!isRecord(response)) continue
      this.#waiting.delete(key)
      waiting.answer(response as JsonObject)
    }
  }

  #ask(question: Question): Promise<JsonObject> {
    if (this.#waiting.size >= maxQuestions) {
      return Promise.reject(new Failure('upstream_invalid', 'The agent asks too many questions at once.'))
    }
    return new Promise((resolve) => {
      this.#count++
      this.#waiting.set(`question_${this.#count}`, { question, answer: resolve })
      this.#onQuestion?.()
    })
  }

  #suspend(): JsonObject {
    const id = this.#name()
    this.#detach()
    this.#call = undefined
    const late = new Failure('cancelled', 'Nobody answered the question in time.')
    this.#timer = setTimeout(() => this.#end(late), questionWait_ms).unref()
    const questions = [...this.#waiting].map(([key, { question }]) => [key, { ...question }] as const)
    return {
      resultType: 'input_required',
      inputRequests: Object.fromEntries(questions),
      requestState: id,
    }
  }

  /** Its name for the caller who answers. */
  #name(): string {
    if (this.#id !== undefined) return this.#id
    const id = `${prefix}${randomUUID()}`
    this.#calls.add(id, this)
    this.#id = id
    return id
  }

  /** A call that has its result has ended by itself. */
  #end(reason?: Failure): void {
    clearTimeout(this.#timer)
    this.#detach()
    if (this.#id !== undefined) this.#calls.remove(this.#id)
    if (reason) this.#over.abort(reason)
  }
}
