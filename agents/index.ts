import type { Agent } from '../schemas/action.ts'
import { createFinance } from './finance/index.ts'
import { createPlayground } from './playground/index.ts'
import { createReader } from './reader/index.ts'
import { createRegistryAgent } from './registry/index.ts'
import type { RegistryPorts } from './registry/port.ts'
import { createWiki } from './wiki/index.ts'

interface AgentNeeds extends RegistryPorts {
  readonly wiki: Parameters<typeof createWiki>[0]
  readonly finance: Parameters<typeof createFinance>[0]
  readonly reader: Parameters<typeof createReader>[0]
  readonly playground: Parameters<typeof createPlayground>[0]
}

/** The agents that the gateway hosts, one line for each agent. */
export function createAgents(needs: AgentNeeds): readonly Agent[] {
  return [
    createRegistryAgent(needs),
    createWiki(needs.wiki),
    createFinance(needs.finance),
    createReader(needs.reader),
    createPlayground(needs.playground),
  ]
}
