import { randomUUID } from 'node:crypto'
import { Failure, mayBeDone } from '../../../../schemas/failure.ts'
import type { Call } from '../../../router/call.ts'

/** Time after which a call is answered that it still works: many hosts give a tool a minute, and then cancel it. */
const wait_ms = 45_000
/** Time for which a call works, or its answer is kept, while nobody asks for it. */
const kept_ms = 10 * 60_000
const maxCalls = 256
const maxCallsPerCaller = 8
const prefix = 'call-'

/**
 * Calls that last longer than hosts wait. Such a call is answered with a cursor, works on in this process, and is asked
 * for by that cursor; a caller who leaves while it waits cancels it.
 */
export class LongCalls<Outcome> {
  readonly #calls = new Map<string, LongCall<Outcome>>()

  /** The outcome of the work, or the cursor by which its caller waits for it. */
  async run(
    call: Call,
    caller: string,
    work: (call: Call) => Promise<Outcome>,
  ): Promise<{ readonly outcome: Outcome } | { readonly cursor: string }> {
    const long = new LongCall(call, caller, work)
    const outcome = await long.wait(call)
    if (outcome !== undefined) return { outcome }
    // Only now: many calls may have begun at once.
    if (!this.#makeRoomFor(caller)) return { outcome: await long.whole(call) }
    const cursor = `${prefix}${randomUUID()}`
    this.#calls.set(cursor, long)
    long.keep(() => this.#calls.delete(cursor))
    return { cursor }
  }

  /** As `run`, for a call that works already. Undefined for a cursor of another kind. Throws Failure `cursor_expired`. */
  async follow(
    cursor: string,
    call: Call,
    caller: string,
  ): Promise<{ readonly outcome: Outcome } | { readonly cursor: string } | undefined> {
    if (!cursor.startsWith(prefix)) return undefined
    const long = this.#calls.get(cursor)
    if (long?.caller !== caller) throw expired()
    const outcome = await long.wait(call)
    long.keep(() => this.#calls.delete(cursor))
    if (outcome === undefined) return { cursor }
    long.isAnswered = true
    return { outcome }
  }

  /** True if the caller may have one more call; an answer that it has got is dropped for it. */
  #makeRoomFor(caller: string): boolean {
    const own = [...this.#calls].filter(([, other]) => other.caller === caller)
    if (own.length >= maxCallsPerCaller) {
      const answered = own.find(([, { isAnswered }]) => isAnswered)
      if (!answered) return false
      this.#calls.delete(answered[0])
    }
    return this.#calls.size < maxCalls
  }
}

/** One call, and the request that waits for it. */
class LongCall<Outcome> {
  readonly caller: string
  /** True once its caller has got the outcome. It is kept, as the answer may have been lost. */
  isAnswered = false
  readonly #over = new AbortController()
  readonly #outcome: Promise<Outcome>
  /** Receives progress and notifications; undefined while nobody waits. */
  #waiting: Call | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(call: Call, caller: string, work: (call: Call) => Promise<Outcome>) {
    this.caller = caller
    this.#waiting = call
    const { emit, notifyClient } = call
    this.#outcome = work({
      ...call,
      signal: this.#over.signal,
      ...(emit && { emit: async (update, content) => this.#waiting?.emit?.(update, content) }),
      ...(notifyClient && {
        notifyClient: async (method, params) => this.#waiting?.notifyClient?.(method, params),
      }),
    })
  }

  /** The outcome, however long it takes. */
  whole(call: Call): Promise<Outcome> {
    return this.#attended(call, this.#outcome)
  }

  /** The outcome; undefined if it takes longer than hosts wait. */
  async wait(call: Call): Promise<Outcome | undefined> {
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), wait_ms)
    })
    try {
      return await this.#attended(call, Promise.race([this.#outcome, timeout]))
    } finally {
      clearTimeout(timer)
    }
  }

  /** Ends the call if nobody asks for it in time. */
  keep(onEnd: () => void): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      onEnd()
      this.#over.abort(new Failure('cancelled', 'Nobody asked for the answer in time.'))
    }, kept_ms).unref()
  }

  /** Waits while the caller is there, whose leaving ends the call unless a later request waits for it. */
  async #attended<Result>(call: Call, result: Promise<Result>): Promise<Result> {
    const { signal } = call
    clearTimeout(this.#timer)
    this.#waiting = call
    const abort = () => {
      if (this.#waiting === call) this.#over.abort(signal.reason)
    }
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    try {
      return await result
    } finally {
      signal.removeEventListener('abort', abort)
      if (this.#waiting === call) this.#waiting = undefined
    }
  }
}

function expired(): Failure {
  return new Failure('cursor_expired', 'The call is not known here any more.', { hint: mayBeDone })
}
