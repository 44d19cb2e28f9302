import { Failure } from '../../schemas/failure.ts'
import { abortable } from '../common/abort.ts'
import { startDeadline } from '../common/deadline.ts'
import type { UpstreamPolicy } from '../net/upstream/upstream-policy.ts'
import { isAboutCall } from './refusal.ts'
import type { RemoteAgent, RemoteAnswer } from './remote-agent.ts'

interface GuardOptions {
  readonly policy: UpstreamPolicy
  /** Name of the agent in error texts. */
  readonly who: string
  /** Milliseconds that one call may take at the agent. */
  readonly timeout_ms: number
}

/**
 * The agent with its upstream policy (circuit, concurrency) and with a time-out per call, which is shorter than the
 * deadline of its callers.
 */
export function createGuarded(agent: RemoteAgent, { policy, who, timeout_ms }: GuardOptions): RemoteAgent {
  async function within<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    using deadline = startDeadline(signal, timeout_ms)
    try {
      return await abortable(work(deadline.signal), deadline.signal)
    } catch (thrown) {
      if (!deadline.has_passed || signal.aborted) throw thrown
      throw new Failure('upstream_timeout', `${who} did not answer within ${timeout_ms} ms.`, {}, thrown)
    }
  }

  const describe = agent.describe?.bind(agent)
  const request = agent.request?.bind(agent)
  return {
    call: (action, params, call) =>
      policy(
        call.signal,
        () =>
          within(call.signal, (signal) => agent.call(action, params, { ...call, signal }).catch(refusedOr)),
        call.caller,
      ),
    probe: (call) => within(call.signal, (signal) => agent.probe({ ...call, signal })),
    ...(describe && {
      describe: (call) =>
        policy(
          call.signal,
          () => within(call.signal, (signal) => describe({ ...call, signal })),
          call.caller,
        ),
    }),
    ...(request && {
      request: (method, params, call) =>
        policy(
          call.signal,
          () => within(call.signal, (signal) => request(method, params, { ...call, signal })),
          call.caller,
        ),
    }),
    [Symbol.asyncDispose]: () => agent[Symbol.asyncDispose](),
  }
}

/** Runs inside the circuit, so that an error caused by one caller does not open the circuit for all callers. */
function refusedOr(thrown: unknown): RemoteAnswer {
  if (thrown instanceof Failure && isAboutCall(thrown.details.upstream?.status)) return { refused: thrown }
  throw thrown
}
