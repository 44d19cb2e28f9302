import { type Action, defineAction } from '../../schemas/action.ts'
import { EntryDetail } from '../../schemas/card.ts'
import { AgentInput } from '../../schemas/publication.ts'
import { input, output } from '../../schemas/shape.ts'
import type { RegistryPort } from './port.ts'

export function getAgent(registry: RegistryPort): Action<AgentInput, EntryDetail> {
  return defineAction({
    name: 'get_agent',
    title: 'Get one agent',
    description: 'Full metadata, capabilities and card of one agent.',
    input: input(AgentInput),
    output: output(EntryDetail),
    access: 'public',
    effect: 'read',
    advertised: false,
    async run({ agent }, { principal }) {
      const entry = await registry.get(agent, principal)
      const [shown = entry] = await registry.markCredentials([entry], principal)
      return shown
    },
  })
}
