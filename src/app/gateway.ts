import { randomBytes, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { v7 } from 'uuid'
import { createAgents } from '../../agents/index.ts'
import { createSessionBook, type SessionBookOptions } from '../../agents/playground/sessions.ts'
import { createExtractor } from '../../agents/reader/extractor.ts'
import type { Agent } from '../../schemas/action.ts'
import { createAssert } from '../auth/assertion.ts'
import type { Authenticate } from '../auth/authenticator.ts'
import { createVault } from '../auth/vault.ts'
import { systemWait } from '../common/clock.ts'
import type { ResolveTxt } from '../net/fetch/resolver.ts'
import { createManifestReader } from '../registry/cards/fetch-card.ts'
import { listHosted } from '../registry/entry/hosted.ts'
import type { Site } from '../registry/entry/site.ts'
import { type Follower, follow } from '../registry/indexing/index-tailer.ts'
import { watchListed } from '../registry/indexing/listed-watcher.ts'
import { createKeep, createSnapshot, restored } from '../registry/indexing/snapshot.ts'
import { changesWorthKeeping } from '../registry/indexing/vector-index.ts'
import type { VectorIndexSwitch } from '../registry/indexing/vector-index-switch.ts'
import { createResolve } from '../registry/queries/resolve.ts'
import { createRegistry } from '../registry/registry.ts'
import { createIdempotency } from '../router/idempotency.ts'
import { type Call, createRouter, type Router } from '../router/router.ts'
import { withSessions } from '../router/sessions.ts'
import { createMemoryIndex } from '../search/index/memory-index.ts'
import { openStore } from '../store/open-store.ts'
import type { Store } from '../store/store.ts'
import { createLogger, type Logger } from '../telemetry/log.ts'
import { createMetrics, type Metrics } from '../telemetry/metrics.ts'
import { createObserver } from '../telemetry/observe.ts'
import {
  createTaskManager,
  type TaskManager,
  type TaskManagerOptions,
} from '../transports/a2a/tasks/task-manager.ts'
import { extractWorker, version } from './assets.ts'
import { type Following, type FollowingOptions, openFollowing } from './change-feed.ts'
import { type Config, storePlace } from './config.ts'
import { originOf, priceOrigins, pricePlaces } from './finance-config.ts'
import { type Identity, openIdentity, secretKey } from './identity.ts'
import { type LivenessPorts, type LivenessService, openLiveness } from './liveness.ts'
import { createOutside, type OutsideOptions } from './outbound.ts'
import { openAdmission } from './rate-limits.ts'
import { openCalling } from './remote.ts'
import { retryStart } from './retry-start.ts'
import { openDense } from './vector-search.ts'
import { openTrust, type Trust } from './verification.ts'

/** The registry, its agents and the router, before any door. */
export interface Gateway extends AsyncDisposable {
  readonly dispatch: Router['dispatch']
  readonly authenticate: Authenticate
  readonly agents: readonly Agent[]
  readonly config: Config
  readonly identity: Identity
  readonly store: Store
  readonly follower: Follower
  /** Resolves once searches see everything that was committed when the process started. */
  readonly ready: Promise<void>
  readonly dense: VectorIndexSwitch
  readonly trust: Trust
  readonly liveness: LivenessService
  /** Who follows the registry, and how. */
  readonly following: Following
  /** The tasks of A2A. */
  readonly taskManager: TaskManager
  readonly log: Logger
  readonly metrics: Metrics
  readonly site: () => Site
  /** Hears of each change of the set of listed agents, until what it gives back is called. */
  onListed(listener: () => void): () => void
  readonly trusted_proxies: readonly string[]
  onError(fault: unknown): void
  /** Says where callers reach the gateway, where the configuration does not. */
  reachedAt(url: string): void
}

/** What tests may set. */
export interface GatewayOptions extends OutsideOptions {
  readonly clock?: () => number
  readonly log?: Logger
  readonly resolveTxt?: ResolveTxt
  /** Where the files of a domain are that is to be proved. */
  readonly originOf?: (domain: string) => string
  /** Milliseconds that a listed agent may take for one call. */
  readonly patience_ms?: number
  /** How patient, how polite and how regular looks at agents are. */
  readonly liveness?: Pick<LivenessPorts, 'random' | 'timeout_ms' | 'gap_ms'>
  /** Bounds and spans of A2A's tasks. */
  readonly tasks?: Pick<TaskManagerOptions, 'bounds' | 'spans'>
  readonly following?: FollowingOptions
  /** Bounds of playground sessions, and how often other processes' steps are looked for. */
  readonly sessions?: Pick<SessionBookOptions, 'bounds' | 'look_ms'>
}

/**
 * Opens the gateway over its data folder. Several processes may do so at once. One that fails half-way leaves nothing
 * open; a store that went away meanwhile is waited for.
 */
export function openGateway(config: Config, options: GatewayOptions = {}): Promise<Gateway> {
  return retryStart((stack) => assemble(stack, config, options))
}

async function assemble(
  stack: AsyncDisposableStack,
  config: Config,
  options: GatewayOptions,
): Promise<Gateway> {
  const clock = options.clock ?? Date.now
  const log = options.log ?? createLogger(config.DRAGOMAN_LOG ?? 'warn')
  const lost = (fault: unknown) => log.warn({ err: fault }, 'store')
  const store = stack.use(await openStore(storePlace(config), clock, lost))
  const createId = () => v7({ msecs: clock() })

  let reached = `http://${config.HOST}:${config.PORT}`
  const site = () => {
    const base_url = config.DRAGOMAN_BASE_URL ?? reached
    return { base_url, site_url: config.DRAGOMAN_SITE_URL ?? base_url }
  }
  const { reach, outside, upstreams } = createOutside({ stack, config, site, clock, options })
  const beyond = reach({ allow_origins: config.DRAGOMAN_ALLOW_ORIGINS })
  const world = beyond.fetch

  // Last in, first out: the tails stop before the store closes.
  const troubled = (fault: unknown) => log.error({ err: fault }, 'index')
  const words = createSnapshot(join(config.data, 'index', 'words'), `${version}/2`, store, troubled)
  const [dense, saved] = await Promise.all([openDense(config, store, outside, troubled), words.read()])
  stack.use(dense)
  const arms = { meaning: () => dense.meaning, onError: troubled }
  const index = stack.use(restored(saved, (words) => createMemoryIndex({ ...arms, saved: words }), troubled))
  const keepWords = createKeep(words, index)
  const listed = watchListed(index)
  const liveness = stack.use(
    openLiveness({
      store,
      clock,
      site,
      wait: options.wait ?? systemWait,
      fetch: world,
      askable: (entry) => calling.askable(entry),
      onCard: (id, signal) => trust.checker.check(id, signal),
      onError: (fault) => log.error({ err: fault }, 'liveness'),
      ...options.liveness,
    }),
  )
  const follower = stack.use(follow(store, listed.index, troubled, { livenessCache: liveness.livenessCache }))
  stack.defer(() => keepWords(1))
  const ready = Promise.all([follower.ready, dense.ready, liveness.ready]).then(() =>
    keepWords(changesWorthKeeping),
  )
  const identity = stack.use(
    await openIdentity({
      config,
      store,
      clock,
      site,
      outside,
      onError: (fault) => log.error({ err: fault }, 'identity'),
    }),
  )
  const fetchCard = createManifestReader(world)
  const trust = openTrust(config, {
    store,
    clock,
    fetch: world,
    fetch_own: reach({ allow_origins: config.DRAGOMAN_ALLOW_ORIGINS, refuse_origins: () => [] }).fetch,
    fetchCard,
    onError: (fault) => log.error({ err: fault }, 'check'),
    resolveTxt: options.resolveTxt,
    originOf: options.originOf,
  })
  const registry = createRegistry({
    store,
    index,
    follower,
    dense,
    site,
    clock,
    createId,
    fetchCard,
    signer: identity.ring.signing,
    agents: () => agents,
    prove: trust.prove,
    secret: trust.secret,
    liveness,
  })
  const vault = createVault(await secretKey(config))
  const following = stack.use(
    openFollowing({
      store,
      site,
      clock,
      createId,
      livenessCache: liveness.livenessCache,
      seals: vault,
      outside: beyond,
      onError: (fault) => log.error({ err: fault }, 'changes'),
      options: options.following,
    }),
  )
  const sessions = createSessionBook({
    store: store.sessions,
    clock,
    createId: () => randomBytes(16).toString('hex'),
    ...options.sessions,
  })
  const extractor = stack.use(createExtractor({ worker: extractWorker }))
  const metrics = createMetrics({
    dragoman_applied_revision: [
      'Registry revision that the search index has applied.',
      () => index.applied_revision,
    ],
  })
  const calling = stack.use(
    openCalling({
      outside: reach({ allow_origins: config.DRAGOMAN_ALLOW_ORIGINS, idle_ms: 60_000, connections: null }),
      clock,
      wait: options.wait ?? systemWait,
      assert: createAssert({
        signing: identity.ring.signing,
        issuer: () => identity.issuer,
        secret: trust.secret,
        clock,
      }),
      store: store.credentials,
      vault,
      get: registry.get,
      namesOf: async (ids) =>
        new Map((await store.read.entries(ids)).map((one) => [one.id, one.package_name])),
      secret: trust.secret,
      observe(agent, code, seconds) {
        metrics.remote(agent, code, seconds)
        reprobe?.heard(agent, code)
      },
      patience_ms: options.patience_ms,
    }),
  )
  const agents: readonly Agent[] = createAgents({
    registry,
    identity,
    credentials: calling.credentials,
    changes: following.changes,
    webhooks: following.webhooks,
    wiki: {
      ...upstreams([originOf(config.DRAGOMAN_WIKI_URL)]),
      url: config.DRAGOMAN_WIKI_URL,
      contact: config.DRAGOMAN_CONTACT,
      languages: config.DRAGOMAN_WIKI_LANGUAGES,
    },
    finance: { ...upstreams(priceOrigins(config)), ...pricePlaces(config) },
    reader: { fetch: world, extract: extractor.extract, clock },
    playground: { sessions, clock, agents: () => agents, base_url: () => site().base_url },
  })
  await follower.caughtUp(await listHosted({ store, clock, createId, domain: trust.domain }, agents, version))

  const onError = (fault: unknown) => log.error({ err: fault }, 'door')
  const uncounted = (fault: unknown) => log.warn({ err: fault }, 'rate limits')
  const { admit } = stack.use(await openAdmission(config, clock, uncounted))
  const count = (call: Call) => admit({ to: 'svc.registry', action: 'task' }, call)
  const taskManager = stack.use(
    createTaskManager({ store: store.tasks, clock, onError, count, ...options.tasks }),
  )
  const names = new Set(
    agents.flatMap((agent) => agent.actions.map((action) => `${agent.package_name} ${action.name}`)),
  )
  const reprobe = config.DRAGOMAN_LIVENESS === 'on' ? stack.use(liveness.reprobe()) : undefined
  const router = createRouter({
    resolve: createResolve(agents, registry.get, calling.agentOf),
    admit,
    observe: createObserver(log, metrics, (to, action) => names.has(`${to} ${action}`)),
    revision: () => index.applied_revision,
    clock,
    createId: randomUUID,
    check_outputs: config.DRAGOMAN_CHECK_OUTPUTS === 'on',
    once: createIdempotency({ store: store.idempotency, clock, createId: randomUUID, onError }),
  })
  return {
    ...withSessions(router, 'svc.playground'),
    authenticate: identity.authenticate,
    agents,
    config,
    identity,
    store,
    follower,
    ready,
    dense,
    trust,
    liveness,
    following,
    taskManager,
    log,
    metrics,
    site,
    onListed: listed.onChange,
    trusted_proxies: config.DRAGOMAN_TRUSTED_PROXIES,
    onError,
    reachedAt(url) {
      reached = url
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
