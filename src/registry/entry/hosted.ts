import type { Action, Agent } from '../../../schemas/action.ts'
import { initialValues, type PublishedField } from '../../../schemas/entry-fields.ts'
import type { Capability, VerificationLevel } from '../../../schemas/entry-parts.ts'
import type { Json } from '../../../schemas/json.ts'
import type { Store } from '../../store/store.ts'
import { initialEntry, type StoredEntry } from '../../store/stored-entry.ts'
import { assertEntrySize } from './entry-size.ts'

/** The software that hosts the agents. */
interface Product {
  readonly version: string
  readonly license: string
}

interface Hosting {
  readonly store: Store
  readonly clock: () => number
  readonly createId: () => string
  /** The domain of the base URL, if it can be proved. An entry proved for another domain is proved again. */
  readonly domain: string | null
}

/** Lists the agents that this gateway hosts, writing only those whose content has changed. Returns the revision. */
export async function listHosted(
  { store, clock, createId, domain }: Hosting,
  agents: readonly Agent[],
  product: Product,
): Promise<number> {
  const listed = agents.filter((agent) => agent.listed !== false)
  const { revision } = await store.write(async (writer) => {
    for (const agent of listed) {
      const current = await writer.entry({ package_name: agent.package_name })
      const at = new Date(clock()).toISOString()
      const facts = { ...factsOf(agent, product), ...verificationOf(current, domain, at) }
      if (current && contentOf({ ...current, ...facts }) === contentOf(current)) continue
      const entry = {
        ...(current ?? { ...initialEntry, id: createId(), created_at: at, verification_level: unproved }),
        ...facts,
        updated_at: at,
      }
      assertEntrySize(entry)
      await writer.put(entry, { actor: null, action: 'list_hosted' })
    }
  })
  return revision
}

/** Ignores the order of keys, which may differ in a document read from the store. */
function contentOf(entry: StoredEntry): string {
  const keys = Object.keys(entry).sort()
  return JSON.stringify(keys.map((key) => [key, Reflect.get(entry, key)]))
}

/** A process without a domain, such as a command beside the server, keeps the stored proof. */
function verificationOf(
  current: StoredEntry | undefined,
  domain: string | null,
  at: string,
): Partial<Pick<StoredEntry, 'verification_level' | 'proof' | 'check_at'>> {
  if (domain === null || (current?.check_at && (current.proof?.domain ?? domain) === domain)) return {}
  return { verification_level: unproved, proof: null, check_at: at }
}

const unproved: VerificationLevel = 'unverified'

function factsOf(
  agent: Agent,
  { version, license }: Product,
): Pick<StoredEntry, PublishedField | 'state' | 'owner' | 'hosted' | 'source_url' | 'card'> {
  return {
    ...initialValues,
    package_name: agent.package_name,
    name: agent.name,
    description: agent.description,
    state: 'ACTIVE',
    owner: null,
    hosted: true,
    tags: [...agent.tags],
    category: agent.category ?? null,
    target: agent.target ?? null,
    license,
    version,
    capabilities: agent.actions.filter((action) => action.advertised).map(capabilityOf),
    source_url: null,
    card: null,
  }
}

/** An action as a card shows it. */
export function capabilityOf(action: Action): Capability {
  const { name, description } = action
  if (action.card_input === false) return { name, description }
  return { name, description, input_schema: action.input.json as Record<string, Json> }
}
