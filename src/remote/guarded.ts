import { Failure } from '../../schemas/failure.ts'
import { abortable, linkSignals } from '../common/abort.ts'
import type { UpstreamPolicy } from '../net/upstream/upstream-policy.ts'
import { isAboutCall } from './refusal.ts'
import type { RemoteAgent, RemoteCall } from './remote-agent.ts'

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
  ): Promise<Answer | { readonly refused: Failure }> {
    using silence = watchSilence(remote.signal, who, times)
    const { signal, onActivity } = silence
    const { notifyClient } = remote
    const watchedCall: RemoteCall = {
      ...remote,
      signal,
      onActivity,
      emit: (update, content) => silence.pause(() => remote.emit(update, content)),
      ...(notifyClient && {
        notifyClient: (method, params) => silence.pause(() => notifyClient(method, params)),
      }),
    }
    try {
      return await abortable(work(watchedCall), signal)
    } catch (thrown) {
      const failure = silence.failure(thrown)
      if (silence.has_answered && failure !== thrown) return { refused: failure as Failure }
      return refusedOr(failure)
    }
  }

  async function within<T>(caller: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    using silence = watchSilence(caller, who, { first_ms, idle_ms: first_ms })
    try {
      return await abortable(work(silence.signal), silence.signal)
    } catch (thrown) {
      throw silence.failure(thrown)
    }
  }

  const describe = agent.describe?.bind(agent)
  const request = agent.request?.bind(agent)
  const listen = agent.listen?.bind(agent)
  return {
    call: (action, params, remote) =>
      policy(remote.signal, () => watched(remote, (call) => agent.call(action, params, call)), remote.caller),
    probe: (remote) => within(remote.signal, (signal) => agent.probe({ ...remote, signal })),
    ...(describe && {
      describe: (remote) =>
        policy(
          remote.signal,
          () => within(remote.signal, (signal) => describe({ ...remote, signal })),
          remote.caller,
        ),
    }),
    ...(request && {
      request: (method, params, remote) =>
        policy(remote.signal, () => watched(remote, (call) => request(method, params, call)), remote.caller),
    }),
    ...(listen && { listen }),
    [Symbol.asyncDispose]: () => agent[Symbol.asyncDispose](),
  }
}

interface Silence extends Disposable {
  /** Aborts with the caller's signal, and when the agent has been silent for too long. */
  readonly signal: AbortSignal
  readonly has_answered: boolean
  /** The agent has spoken. */
  readonly onActivity: () => void
  /** The agent has spoken, and the caller takes it: that time is not the agent's. */
  pause(work: () => Promise<void>): Promise<void>
  /** What was thrown, as `upstream_timeout` if the silence was too long. */
  failure(thrown: unknown): unknown
}

function watchSilence(caller: AbortSignal, who: string, { first_ms, idle_ms }: CallTimes): Silence {
  const linked = linkSignals(caller)
  let hasAnswered = false
  let hasPassed = false
  let pauses = 0
  let timer = setTimeout(expire, first_ms)

  function expire(): void {
    hasPassed = true
    linked.abort()
  }

  function onActivity(): void {
    hasAnswered = true
    clearTimeout(timer)
    if (pauses === 0) timer = setTimeout(expire, idle_ms)
  }

  return {
    signal: linked.signal,
    get has_answered() {
      return hasAnswered
    },
    onActivity,
    async pause(work) {
      pauses++
      onActivity()
      try {
        await work()
      } finally {
        pauses--
        onActivity()
      }
    },
    failure(thrown) {
      if (!hasPassed || caller.aborted) return thrown
      const message = hasAnswered
        ? `${who} was silent for ${idle_ms} ms.`
        : `${who} did not answer within ${first_ms} ms.`
      return new Failure('upstream_timeout', message, {}, thrown)
    },
    [Symbol.dispose]() {
      clearTimeout(timer)
      linked[Symbol.dispose]()
    },
  }
}

/** Runs inside the circuit, so that an error caused by one caller does not open the circuit for all callers. */
function refusedOr(thrown: unknown): { readonly refused: Failure } {
  if (thrown instanceof Failure && isAboutCall(thrown.details.upstream?.status)) return { refused: thrown }
  throw thrown
}
