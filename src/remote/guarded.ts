import { Failure } from '../../schemas/failure.ts'
import { abortable } from '../common/abort.ts'
import { startDeadline } from '../common/deadline.ts'
import type { UpstreamPolicy } from '../net/upstream/upstream-policy.ts'
import { isAboutCall } from './refusal.ts'
import type { RemoteAgent, RemoteAnswer } from './remote-agent.ts'

export interface GuardOptions {
  readonly policy: UpstreamPolicy
  /** How the agent is called in what its callers are told. */
  readonly who: string
  /** Milliseconds that one call may take at the other side. */
  readonly patience_ms: number
}

/**
 * The same agent with what keeps everybody whole around it: its own circuit and bounded places, and a time after
 * which it counts as having failed, which is shorter than its callers' own.
 */
export function createGuarded(agent: RemoteAgent, { policy, who, patience_ms }: GuardOptions): RemoteAgent {
  async function within<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    using deadline = startDeadline(signal, patience_ms)
    try {
      return await abortable(work(deadline.signal), deadline.signal)
    } catch (thrown) {
      if (!deadline.has_passed || signal.aborted) throw thrown
      throw new Failure('upstream_timeout', `${who} did not answer within ${patience_ms} ms.`, {}, thrown)
    }
  }

  const { describe } = agent
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
    [Symbol.asyncDispose]: () => agent[Symbol.asyncDispose](),
  }
}

/** Inside the circuit: what one caller did wrong closes the agent to nobody else. */
function refusedOr(thrown: unknown): RemoteAnswer {
  if (thrown instanceof Failure && isAboutCall(thrown.details.upstream?.status)) return { refused: thrown }
  throw thrown
}
