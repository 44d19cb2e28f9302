import { type Action, defineAction } from '../../schemas/action.ts'
import { LivenessOutcome } from '../../schemas/liveness.ts'
import { AgentInput } from '../../schemas/publication.ts'
import { input, output } from '../../schemas/shape.ts'
import type { RegistryPort } from './port.ts'

export function check(registry: RegistryPort): Action<AgentInput, LivenessOutcome> {
  return defineAction({
    name: 'check',
    title: 'Probe an agent now',
    description:
      'Probes an agent now: whether its card is reachable and well-formed, and whether it answers in its protocol. The probe changes nothing at the agent.',
    input: input(AgentInput),
    output: output(LivenessOutcome),
    access: { scope: 'agents:read' },
    effect: 'write',
    advertised: false,
    deadline_ms: 25_000,
    run: ({ agent }, { principal, signal }) => registry.check(agent, principal, signal),
  })
}
