import { join } from 'node:path'
import type { Principal, Scope } from '../../schemas/scope.ts'
import type { SearchQuery } from '../../schemas/search.ts'
import { systemWait } from '../../src/common/clock.ts'
import { uuidV7 } from '../../src/common/uuid.ts'
import type { FetchedCard } from '../../src/registry/cards/fetch-card.ts'
import type { EditorOptions } from '../../src/registry/entry/editor.ts'
import { IndexTailer } from '../../src/registry/indexing/index-tailer.ts'
import { createLivenessCache } from '../../src/registry/liveness/liveness-cache.ts'
import { createPublisherFiles } from '../../src/registry/publisher/publisher-files.ts'
import { createRegistry, type Registry } from '../../src/registry/registry.ts'
import type { Prove } from '../../src/registry/verification/proof.ts'
import { createMemoryIndex } from '../../src/search/index/memory-index.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import type { Store } from '../../src/store/store.ts'
import { temporaryFolder } from './command.ts'

export interface TestRegistry extends Registry, AsyncDisposable {
  readonly store: Store
  readonly tailer: IndexTailer
  /** Names, in order, that a search finds, and `total`. */
  find(input: Partial<SearchQuery>, caller?: Principal | null): Promise<{ names: string[]; total: number }>
  /** Publishes an entry and takes it live. */
  list(publication: Parameters<Registry['publish']>[0], owner: Principal): Promise<void>
  /** The faults that the tailer reported. */
  readonly faults: unknown[]
}

const site = { base_url: 'https://registry.test', site_url: 'https://site.test' }
export const signal: AbortSignal = new AbortController().signal

interface Options {
  /** A database that others share; a fresh one when absent. */
  readonly path?: string
  readonly fetchCard?: EditorOptions['fetchCard']
  readonly prove?: Prove
  readonly names?: EditorOptions['names']
  readonly protectedNames?: EditorOptions['protectedNames']
  readonly quotas?: EditorOptions['quotas']
}

const unproved: Prove = async () => ({ proof: null, attempts: [] })

async function noCard(url: string): Promise<FetchedCard> {
  throw new Error(`Nobody answers at ${url}.`)
}

/** The registry's domain over a database; no HTTP and no agents. */
export async function openRegistry({
  path,
  fetchCard = noCard,
  prove = unproved,
  names = 'open',
  protectedNames = [],
  quotas = null,
}: Options = {}): Promise<TestRegistry> {
  const stack = new AsyncDisposableStack()
  const file = path ?? join(stack.use(await temporaryFolder()).path, 'registry.sqlite')
  const store = stack.use(await openSqliteStore(file))
  const index = stack.use(createMemoryIndex())
  const faults: unknown[] = []
  const tailer = stack.use(new IndexTailer(store, index, (fault) => void faults.push(fault)))
  const registry = createRegistry({
    issuers: [person('').issuer],
    agents: () => [],
    store,
    index,
    tailer,
    site: () => site,
    clock: Date.now,
    createId: () => uuidV7(Date.now()),
    fetchCard,
    names,
    saveSnapshots: async () => {},
    protectedNames,
    quotas,
    onDeparture: async () => {},
    signer: () => Promise.reject(new Error('There is no key.')),
    prove,
    federation: { upstreams: [], ask: () => Promise.reject(new Error('Nobody is asked.')), wait: systemWait },
    secret: async () => new Uint8Array(32),
    publisherFiles: createPublisherFiles(undefined),
    calls: { flush: async () => {} },
    liveness: {
      livenessCache: createLivenessCache(store.liveness, []),
      prober: { check: () => Promise.reject(new Error('Nobody looks.')) },
    },
  })
  return {
    ...registry,
    store,
    tailer,
    faults,
    async find(input, caller = null) {
      const whole: SearchQuery = { limit: 100, sort: 'relevance', facets: false, ...input }
      const { agents, total } = await registry.search(whole, caller, signal)
      return { names: agents.map((agent) => agent.package_name), total }
    },
    async list(publication, owner) {
      const { id } = await registry.publish(publication, owner, signal)
      await registry.goLive({ agent: id }, owner)
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

export function person(subject: string, namespaces: string[] = [], scopes: Scope[] = []): Principal {
  return { issuer: 'urn:test', subject, scopes: new Set(scopes), namespaces }
}

export const admin = person('root', [], ['admin'])

export function publication(package_name: string, more: object = {}) {
  return {
    package_name,
    name: 'An agent',
    description: 'Does something.',
    capabilities: [{ name: 'do_it', description: 'Does it.' }],
    ...more,
  }
}

/** The code of the failure with which the work ends, or `ok`. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  return await work.then(
    () => 'ok',
    (failure) => failure.code ?? String(failure),
  )
}
