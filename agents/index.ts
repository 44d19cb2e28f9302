import type { Agent } from '../schemas/action.ts'
import { createFinance } from './finance/index.ts'
import { createPlayground } from './playground/index.ts'
import { createReader } from './reader/index.ts'
import { createRegistryAgent } from './registry/index.ts'
import { createWiki } from './wiki/index.ts'

interface AgentNeeds {
  readonly registry: Parameters<typeof createRegistryAgent>[0]
  readonly identity: Parameters<typeof createRegistryAgent>[1]
  readonly credentials: Parameters<typeof createRegistryAgent>[2]
  readonly changes: Parameters<typeof createRegistryAgent>[3]
  readonly webhooks: Parameters<typeof createRegistryAgent>[4]
  readonly quotas: Parameters<typeof createRegistryAgent>[5]
  readonly mirrors: Parameters<typeof createRegistryAgent>[6]
  readonly logins: Parameters<typeof createRegistryAgent>[7]
  readonly packages: Parameters<typeof createRegistryAgent>[8]
  readonly status: Parameters<typeof createRegistryAgent>[9]
  readonly wiki: Parameters<typeof createWiki>[0]
  readonly finance: Parameters<typeof createFinance>[0]
  readonly reader: Parameters<typeof createReader>[0]
  readonly playground: Parameters<typeof createPlayground>[0]
}

/** The agents that the gateway hosts, one line for each agent. */
export function createAgents(needs: AgentNeeds): readonly Agent[] {
  return [
    createRegistryAgent(
      needs.registry,
      needs.identity,
      needs.credentials,
      needs.changes,
      needs.webhooks,
      needs.quotas,
      needs.mirrors,
      needs.logins,
      needs.packages,
      needs.status,
    ),
    createWiki(needs.wiki),
    createFinance(needs.finance),
    createReader(needs.reader),
    createPlayground(needs.playground),
  ]
}
