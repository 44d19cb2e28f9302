import type { Action, Agent } from '../../schemas/action.ts'
import type { Capability } from '../../schemas/entry.ts'
import type { Json } from '../../schemas/json.ts'
import type { Store, StoredEntry } from '../store/store.ts'

/** Lists the agents that this gateway hosts, writing only those whose content has changed; the revision then. */
export async function listHosted(
  { store, clock, createId }: { store: Store; clock: () => number; createId: () => string },
  agents: readonly Agent[],
  version: string,
): Promise<number> {
  const listed = agents.filter((agent) => agent.listed !== false)
  const { revision } = await store.write(async (writer) => {
    for (const agent of listed) {
      const known = await writer.entry({ package_name: agent.package_name })
      const facts = factsOf(agent, version)
      if (known && contentOf({ ...known, ...facts, revision: known.revision }) === contentOf(known)) continue
      const at = new Date(clock()).toISOString()
      await writer.put({
        id: known?.id ?? createId(),
        created_at: known?.created_at ?? at,
        ...facts,
        updated_at: at,
      })
    }
  })
  return revision
}

/** Key order does not count: a document read back from the store has its own. */
function contentOf(entry: StoredEntry): string {
  const keys = Object.keys(entry).sort()
  return JSON.stringify(keys.map((key) => [key, Reflect.get(entry, key)]))
}

function factsOf(agent: Agent, version: string): Omit<StoredEntry, 'id' | 'created_at' | 'updated_at'> {
  return {
    package_name: agent.package_name,
    name: agent.name,
    description: agent.description,
    state: 'ACTIVE',
    verification_level: 'unverified',
    owner: null,
    hosted: true,
    manifest_url: null,
    tags: [...agent.tags],
    category: agent.category ?? null,
    target: agent.target ?? null,
    version,
    capabilities: agent.actions.filter((action) => action.advertised).map(capabilityOf),
    endpoints: [],
    packages: [],
    source_url: null,
    card: null,
    deleted: false,
    revision: 0,
  }
}

function capabilityOf(action: Action): Capability {
  const { name, description } = action
  if (action.card_input === false) return { name, description }
  return { name, description, input_schema: action.input.json as Record<string, Json> }
}
