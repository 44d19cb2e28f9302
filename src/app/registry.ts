import type { Agent } from '../../schemas/action.ts'
import { CallCounter } from '../registry/call-counter.ts'
import { CapabilityReader } from '../registry/capabilities/reader.ts'
import { type CapabilityRefresh, createCapabilityRefresh } from '../registry/capabilities/refresh.ts'
import { createManifestReader } from '../registry/cards/fetch-card.ts'
import { readProtectedName } from '../registry/entry/imitation.ts'
import { IndexTailer } from '../registry/indexing/index-tailer.ts'
import { changesWorthKeeping, changesWorthStopping } from '../registry/indexing/vector-index.ts'
import { createIconDrawer } from '../registry/publisher/icon-drawer.ts'
import { createPublisherFiles } from '../registry/publisher/publisher-files.ts'
import type { UnmetQueries } from '../registry/queries/unmet-queries.ts'
import { createRegistry, type Registry } from '../registry/registry.ts'
import { createSweep } from '../registry/retention/sweep.ts'
import type { Seals } from '../registry/webhooks/deliver.ts'
import { isEarlierTable } from '../search/embedders/static/static-embedder.ts'
import type { Store } from '../store/store.ts'
import { iconWorker } from './assets.ts'
import { type ChangeServices, openChangeServices } from './change-feed.ts'
import { nameMode } from './config.ts'
import type { Identity } from './identity.ts'
import { type LivenessService, openLiveness } from './liveness.ts'
import type { Outbound } from './outbound.ts'
import { type OpenRemotes, probeableBy, readServerBy } from './remote.ts'
import type { Runtime } from './runtime.ts'
import type { Search } from './search.ts'
import { openVerification, type Verification } from './verification.ts'

/** The domain services over the store and the search: entries, verification, liveness and change feeds. */
export interface RegistryServices {
  readonly registry: Registry
  /** Removes what is older than the retention allows. */
  readonly sweep: ReturnType<typeof createSweep>
  readonly tailer: IndexTailer
  /** Resolves once searches see all changes that were committed before the process started. */
  readonly ready: Promise<void>
  readonly verification: Verification
  readonly liveness: LivenessService
  readonly capabilities: CapabilityRefresh
  readonly calls: CallCounter
  readonly reader: CapabilityReader
  readonly changes: ChangeServices
}

interface RegistryServicePorts {
  readonly store: Store
  readonly outbound: Outbound
  readonly identity: Identity
  readonly seals: Seals
  /** Ends and removes what a principal key has beside the store. */
  readonly onDeparture: (owner: string) => Promise<void>
  readonly search: Search
  readonly remotes: OpenRemotes
  /** The hosted agents, whose cards the registry renders; filled before the first request. */
  readonly hosted: readonly Agent[]
  /** Present where the operator wants to know them. */
  readonly unmet: UnmetQueries | undefined
}

/** What one other registry is asked at most: half of it holds, since all searches count as one caller. */
const federationLimits = { gap_ms: 25, burst: 80, max_in_flight: 32, max_rest_ms: 60_000 }

/** A start over a snapshot takes less; one that derives the index anew takes minutes. */
const startWait = 5000

export function openRegistryServices(runtime: Runtime, ports: RegistryServicePorts): RegistryServices {
  const { stack, config, clock, createId, site } = runtime
  const { store, outbound, identity, seals, onDeparture, search, remotes, hosted, unmet } = ports
  const { index, listed, vectors, tailing, saveSnapshot } = search
  const { fetch } = outbound.public
  const readServer = readServerBy(remotes.at)
  const fetchCard = createManifestReader(fetch, readServer)
  const protectedNames = config.DRAGOMAN_PROTECTED_NAMES.map(readProtectedName)
  const reader = new CapabilityReader({ store, clock, readServer, fetch, protectedNames })
  const capabilities = stack.use(
    createCapabilityRefresh({
      read: async (package_name) => await store.read.entry({ package_name }),
      reader,
      clock,
      wait: runtime.wait,
      onError: runtime.onErrorOf('capabilities'),
    }),
  )
  remotes.onToolsChanged(capabilities.toolsChanged)
  const verification = openVerification(runtime, store, outbound, { fetchCard, reader, protectedNames })
  const { checker, prove, secret } = verification
  const liveness = openLiveness(runtime, store, outbound, {
    probeable: probeableBy(remotes),
    onCard: (id, signal) => checker.check(id, signal),
  })
  const { livenessCache } = liveness
  // Once the tailer has stopped.
  stack.defer(() => saveSnapshot(changesWorthStopping(index.applied_revision)))
  const tailer = stack.use(
    new IndexTailer(store, listed.index, runtime.onErrorOf('index'), { livenessCache, ...tailing }),
  )
  const ready = Promise.all([tailer.ready, vectors.ready, liveness.ready]).then(() =>
    saveSnapshot(changesWorthKeeping),
  )
  const calls = stack.use(
    new CallCounter({ store: store.calls, clock, onError: runtime.onErrorOf('calls', 'warn') }),
  )
  const registry = createRegistry({
    store,
    index,
    tailer,
    start_wait_ms: runtime.options.start_wait_ms ?? startWait,
    vectors,
    site,
    clock,
    createId,
    fetchCard,
    names: nameMode(config),
    onDeparture,
    allowOrigins: config.DRAGOMAN_ALLOW_ORIGINS,
    async saveSnapshots() {
      await Promise.all([saveSnapshot(0), vectors.saveSnapshots()])
    },
    protectedNames,
    quotas: config.DRAGOMAN_QUOTAS,
    signer: identity.ring.signing,
    issuers: identity.issuers,
    agents: () => hosted,
    onUnmet: unmet?.note,
    federation: {
      upstreams: config.DRAGOMAN_FEDERATION,
      ask: outbound.upstreams(config.DRAGOMAN_FEDERATION).create_upstream(federationLimits),
      wait: runtime.wait,
    },
    publisherFiles: createPublisherFiles(
      config.DRAGOMAN_PUBLISHER_FILES === 'on'
        ? {
            upstreams: outbound.upstreams(config.DRAGOMAN_ALLOW_ORIGINS),
            draw: createIconDrawer(iconWorker),
          }
        : undefined,
    ),
    prove,
    secret,
    liveness,
    calls,
    reader,
    ...(config.DRAGOMAN_LIVENESS === 'on' && { onShown: capabilities.shown }),
  })
  const changes = openChangeServices(runtime, store, outbound, { livenessCache, seals })
  const sweep = createSweep({
    store,
    clock,
    retention: config.DRAGOMAN_RETENTION,
    isReplaced: (model) => isEarlierTable(model, search.vectors.progress().model),
    removeLeftovers: search.engine?.removeLeftovers,
    onPruned(counts) {
      if (Object.values(counts).some((count) => count > 0)) runtime.log.info(counts, 'retention')
    },
  })
  return { registry, sweep, tailer, ready, verification, liveness, capabilities, calls, reader, changes }
}
