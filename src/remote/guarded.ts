import { Failure, mayBeDone } from '../../schemas/failure.ts'
import type { UpstreamPolicy } from '../net/upstream/upstream-policy.ts'
import { isAboutCall } from './refusal.ts'
import type { Refused, RemoteAgent, RemoteCall } from './remote-agent.ts'

/** Time limits of one call, in milliseconds. */
export interface CallTimes {
  /** From the start of the call to the first word of the agent. */
  readonly first_ms: number
  /** Between two words of the agent. */
  readonly idle_ms: number
}

interface GuardOptions {
  readonly policy: UpstreamPolicy
  /** Name of the agent in error texts. */
  readonly who: string
  readonly times: CallTimes
}

/**
 * The agent with its upstream policy (circuit, concurrency) and with limits of its silence. An agent that has spoken and
 * then is silent for too long works: its circuit does not count that.
 */
export function createGuarded(agent: RemoteAgent, { policy, who, times }: GuardOptions): RemoteAgent {
  const { first_ms } = times

  async function watched<Answer>(
    remote: RemoteCall,
    work: (call: RemoteCall) => Promise<Answer>,
  ): Promise<Answer | Refused> {
    using silence = new SilenceWatch(remote.signal, who, times)
    const { notifyClient } = remote
    const watchedCall: RemoteCall = {
      ...remote,
      signal: silence.signal,
      onActivity: () => silence.onActivity(),
      emit: (update, content) => silence.pause(() => remote.emit(update, content).catch(silence.refuse)),
      ...(notifyClient && {
        notifyClient: (method, params) => silence.pause(() => notifyClient(method, params)),
      }),
    }
    try {
      return await silence.race(work(watchedCall))
    } catch (thrown) {
      const failure = silence.failure(thrown)
      if (silence.caller_refused && failure instanceof Failure) return { refused: failure }
      if (silence.has_answered && failure !== thrown) return { refused: failure as Failure }
      return refusedOr(failure)
    }
  }

  async function within<T>(caller: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    using silence = new SilenceWatch(caller, who, { first_ms, idle_ms: first_ms })
    try {
      return await silence.race(work(silence.signal))
    } catch (thrown) {
      throw silence.failure(thrown)
    }
  }

  const cancel = agent.cancel?.bind(agent)
  const describe = agent.describe?.bind(agent)
  const request = agent.request?.bind(agent)
  const listen = agent.listen?.bind(agent)
  return {
    call: (action, params, remote) =>
      policy(
        remote.signal,
        (begun) => watched({ ...remote, onTask: begun }, (call) => agent.call(action, params, call)),
        remote.caller,
      ),
    probe: (remote) => within(remote.signal, (signal) => agent.probe({ ...remote, signal })),
    ...(cancel && {
      cancel: (task, remote) => within(remote.signal, (signal) => cancel(task, { ...remote, signal })),
    }),
    ...(describe && {
      async describe(remote) {
        const work = (signal: AbortSignal) => describe({ ...remote, signal })
        const attempt = async () => ({ capabilities: await within(remote.signal, work) })
        const answer = await policy(remote.signal, () => attempt().catch(refusedOr), remote.caller)
        if ('refused' in answer) throw answer.refused
        return answer.capabilities
      },
    }),
    ...(request && {
      request: (method, params, remote) =>
        policy(remote.signal, () => watched(remote, (call) => request(method, params, call)), remote.caller),
    }),
    ...(listen && { listen }),
    [Symbol.asyncDispose]: () => agent[Symbol.asyncDispose](),
  }
}

/** Ends a call with the caller's signal, and when the agent has been silent for too long. */
class SilenceWatch implements Disposable {
  readonly #caller: AbortSignal
  readonly #who: string
  readonly #times: CallTimes
  readonly #controller = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #reject: (reason: unknown) => void = () => {}
  #pauses = 0
  #hasAnswered = false
  #hasPassed = false
  #callerRefused = false

  constructor(caller: AbortSignal, who: string, times: CallTimes) {
    this.#caller = caller
    this.#who = who
    this.#times = times
    this.#timer = setTimeout(this.#expire, times.first_ms)
    caller.addEventListener('abort', this.#leave)
    if (caller.aborted) this.#leave()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  get has_answered(): boolean {
    return this.#hasAnswered
  }

  /** The caller's side takes no more: that is no fault of the agent. */
  get caller_refused(): boolean {
    return this.#callerRefused
  }

  /** Settles as the work does, or rejects when the call ends before. */
  race<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject
      if (this.signal.aborted) reject(this.signal.reason)
      work.then(resolve, reject)
    })
  }

  /** The agent has spoken. */
  onActivity(): void {
    this.#hasAnswered = true
    clearTimeout(this.#timer)
    const isWatched = this.#pauses === 0 && this.#timer !== undefined
    if (isWatched) this.#timer = setTimeout(this.#expire, this.#times.idle_ms)
  }

  /** The agent has spoken, and the caller takes it: that time is not the agent's. */
  async pause(work: () => Promise<void>): Promise<void> {
    this.#pauses++
    this.onActivity()
    try {
      await work()
    } finally {
      this.#pauses--
      this.onActivity()
    }
  }

  /** Ends the call with what the caller's side threw. */
  readonly refuse = (thrown: unknown): never => {
    this.#callerRefused = true
    this.#end(thrown)
    throw thrown
  }

  /** What was thrown, as `upstream_timeout` if the silence was too long. */
  failure(thrown: unknown): unknown {
    if (!this.#hasPassed || this.#caller.aborted) return thrown
    const { first_ms, idle_ms } = this.#times
    const message = this.#hasAnswered
      ? `${this.#who} was silent for ${idle_ms / 1000} s.`
      : `${this.#who} did not answer within ${first_ms / 1000} s.`
    return new Failure('upstream_timeout', message, { hint: mayBeDone }, thrown)
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#caller.removeEventListener('abort', this.#leave)
  }

  readonly #expire = () => {
    this.#hasPassed = true
    this.#end(undefined)
  }

  readonly #leave = () => this.#end(this.#caller.reason)

  #end(reason: unknown): void {
    this.#controller.abort(reason)
    this.#reject(this.signal.reason)
  }
}

/** Runs inside the circuit, so that an error caused by one caller does not open the circuit for all callers. */
function refusedOr(thrown: unknown): Refused {
  if (thrown instanceof Failure && isAboutCall(thrown.details.upstream?.status)) return { refused: thrown }
  throw thrown
}
