import { setFlagsFromString } from 'node:v8'
import type { Agent } from '../../schemas/action.ts'
import { Failure } from '../../schemas/failure.ts'
import type { Site } from '../../schemas/site.ts'
import type { Authenticate } from '../auth/authenticator.ts'
import type { Standing } from '../auth/standing.ts'
import type { SignIns } from '../auth/upstream-sign-in/sign-ins.ts'
import { createVault } from '../auth/vault.ts'
import { type AddressSet, addressSet } from '../common/address-set.ts'
import type { Clock } from '../common/clock.ts'
import type { OnChange } from '../common/paced.ts'
import type { Survey } from '../registry/capabilities/survey.ts'
import { listHosted } from '../registry/entry/hosted.ts'
import type { IndexTailer } from '../registry/indexing/index-tailer.ts'
import type { VectorIndexSwitch } from '../registry/indexing/vector-index-switch.ts'
import type { Mirrors } from '../registry/mirror/mirrors.ts'
import { createUnmetQueries } from '../registry/queries/unmet-queries.ts'
import type { Router } from '../router/call.ts'
import { openStore } from '../store/open-store.ts'
import type { Store } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'
import { createMetrics, type Metrics } from '../telemetry/metrics.ts'
import { createTraffic, type Traffic } from '../telemetry/traffic.ts'
import type { TaskManager } from '../transports/a2a/tasks/task-manager.ts'
import type { TransportContext } from '../transports/shared/transport-context.ts'
import { openAgents } from './agents.ts'
import { license, version } from './assets.ts'
import type { ChangeServices } from './change-feed.ts'
import { type Config, storeLocation, unconfiguredAgents } from './config.ts'
import { protectFiles } from './file-modes.ts'
import { type Identity, openIdentity } from './identity.ts'
import type { LivenessService } from './liveness.ts'
import { openLogins } from './logins.ts'
import { openMirrors } from './mirrors.ts'
import { createOutbound } from './outbound.ts'
import { openPackages } from './packages.ts'
import { openPush } from './push.ts'
import { openRegistryServices, type RegistryServices } from './registry.ts'
import { openCredentials, openListedAgents, openRemotes } from './remote.ts'
import { retryStart } from './retry-start.ts'
import { openRouter } from './router.ts'
import { createRuntime, type GatewayOptions, type Health, type Runtime } from './runtime.ts'
import { openSearch } from './search.ts'
import { checkSecretKey, secretKey } from './secret-key.ts'
import { createSettling, type Settling } from './settling.ts'
import { openSignIn, type SignIn } from './sign-in.ts'
import { startFailure } from './start-failure.ts'
import { openStatus } from './status.ts'
import { HealthObserver } from './store-observer.ts'
import { openSurvey } from './survey.ts'
import { openUpstream } from './upstream.ts'
import type { Verification } from './verification.ts'

/** The registry, its agents and the router, before any transport. */
export interface Gateway extends AsyncDisposable {
  readonly dispatch: Router['dispatch']
  readonly endCalls: Router['endCalls']
  readonly authenticate: Authenticate
  readonly standing: Standing
  readonly agents: readonly Agent[]
  readonly config: Config
  readonly identity: Identity
  readonly signIn: SignIn
  /** Sign-ins of callers to listed agents. */
  readonly signIns: SignIns
  readonly store: Store
  readonly tailer: IndexTailer
  /** Resolves once searches see all changes that were committed before the process started. */
  readonly ready: Promise<void>
  readonly settled: Settling['settled']
  readonly rebuilt: Settling['rebuilt']
  readonly vectors: VectorIndexSwitch
  readonly verification: Verification
  readonly liveness: LivenessService
  readonly survey: Survey
  readonly sweep: RegistryServices['sweep']
  readonly mirrors: Mirrors
  readonly changes: ChangeServices
  readonly taskManager: TaskManager
  readonly count: TransportContext['count']
  readonly limits: TransportContext['limits']
  readonly log: Logger
  readonly health: Health
  readonly metrics: Metrics
  readonly traffic: Traffic
  readonly site: () => Site
  /** Milliseconds since the epoch, by the clock of the store. */
  readonly clock: Clock
  /** Calls the listener at each change of the set of listed agents; the returned function removes the listener. */
  readonly onListed: OnChange
  readonly trusted_proxies: AddressSet
  readonly mcp_tools: readonly string[]
  readonly unconfigured: readonly string[]
  onError(fault: unknown): void
  /** Logs the errors of one part of the gateway. */
  readonly onErrorOf: Runtime['onErrorOf']
  /** Reports a secret key that is not that of the registry; for a gateway that serves. */
  checkSecretKey(): Promise<void>
  /** Sets the gateway's URL unless the configuration sets it. */
  reachedAt(url: string): void
}

/**
 * By how much the heap grows until V8 collects its garbage, in percent; up to 300 by its own rule. A gateway over
 * 100,000 agents takes a seventh less memory for the same CPU time.
 */
const heapGrowth = 40

/**
 * V8 allocates objects directly in the old heap if earlier ones from the same place in the code have lived long. There,
 * the objects of a call live until the next full collection, with all that they refer to: that took a fifth of the CPU
 * time of a call to a listed agent.
 */
const noPretenuring = '--no-allocation-site-pretenuring'

/**
 * Opens the gateway over its data folder. Several processes may do so at once. A failed start closes the resources
 * that it opened. A start is retried while the store is unavailable.
 */
export async function openGateway(config: Config, options: GatewayOptions = {}): Promise<Gateway> {
  setFlagsFromString(`--heap-growing-percent=${heapGrowth}`)
  setFlagsFromString(noPretenuring)
  const { signal, log } = options
  const onWait = ({ message }: Failure) =>
    log?.warn({ reason: message }, 'the start is tried again for up to 15 seconds')
  try {
    return await retryStart((stack) => assemble(stack, config, options), { signal, onWait })
  } catch (fault) {
    const failure = startFailure(fault, config)
    // The caller reports a Failure; only the log has the stack of an unexpected error.
    if (!(failure instanceof Failure)) log?.error({ err: failure }, 'start')
    throw failure
  }
}

/** A gateway that leaves the index to a search engine is there to be small. */
function cachedCharacters({ DRAGOMAN_SEARCH }: Config): number | undefined {
  return DRAGOMAN_SEARCH === 'memory' ? undefined : 8_000_000
}

/** Each phase receives the results of earlier phases, so no part is used before it exists; only `hosted` is filled later. */
async function assemble(
  stack: AsyncDisposableStack,
  config: Config,
  options: GatewayOptions,
): Promise<Gateway> {
  const runtime = createRuntime(stack, config, options)
  const { clock, log, createId, site, reachedAt } = runtime
  await protectFiles(config, runtime.onErrorOf('files'))
  const observer = new HealthObserver(runtime, config)
  const store = stack.use(
    // The whole start is retried while the store is away.
    await openStore(storeLocation(config), {
      clock,
      onError: runtime.onErrorOf('store', 'warn'),
      observer,
      start_ms: 0,
      signal: options.signal,
      cached_characters: cachedCharacters(config),
    }),
  )
  observer.watch(store)
  const outbound = createOutbound(runtime)
  const logins = options.logins ?? (await openLogins(config, outbound, store))
  const vault = createVault(await secretKey(config, store.settings))
  const upstream = await openUpstream(runtime, { store, outbound, vault })
  const { endSignIns } = upstream.tokens
  /** What happens when a person leaves; filled before the first request. */
  const departures = [endSignIns]
  const identity = await openIdentity(runtime, { store, outbound, logins, endSignIns })
  const signIn = openSignIn(runtime, { store, vault, outbound, identity, logins })
  const search = await openSearch(runtime, store, outbound)
  const remotes = openRemotes(runtime, outbound)
  const hosted: Agent[] = []
  const unmet = config.DRAGOMAN_UNMET_QUERIES === 'on' ? createUnmetQueries() : undefined
  const { registry, sweep, tailer, ready, verification, liveness, capabilities, calls, reader, changes } =
    openRegistryServices(runtime, {
      store,
      outbound,
      identity,
      seals: vault,
      async onDeparture(owner) {
        for (const depart of departures) await depart(owner)
      },
      search,
      remotes,
      hosted,
      unmet,
    })
  const traffic = createTraffic(clock)
  const metrics = createMetrics({
    dragoman_applied_revision: [
      'Registry revision that the search index has applied.',
      () => search.index.applied_revision,
    ],
    dragoman_degraded: ['Reasons for which /readyz says degraded.', () => runtime.health.size],
    dragoman_store_away: [
      '1 while the database does not answer, or refuses connections.',
      () => Number(runtime.outage.lasts),
    ],
  })
  const credentials = openCredentials(runtime, { store, remotes, vault, upstream, registry })
  const packages = openPackages(runtime, { store, outbound, remotes, registry, reader, credentials })
  departures.push(packages.forgetPerson)
  const { agentOf, signIns, connect } = openListedAgents(runtime, {
    store,
    vault,
    upstream,
    remotes,
    identity,
    credentials,
    packages,
    registry,
    secret: verification.secret,
    observe({ id, package_name }, code, seconds) {
      metrics.remote(package_name, code, seconds)
      traffic.upstream(package_name, code, seconds)
      calls.count(id, code)
      liveness.reprobe?.observe(package_name, code)
      if (config.DRAGOMAN_LIVENESS === 'on') capabilities.used(package_name)
    },
  })
  const mirrors = openMirrors(runtime, { store, outbound, search, tailer, metrics })
  const status = openStatus(runtime, { store, registry, mirrors, traffic, unmet, tailer, ready })
  hosted.push(
    ...openAgents(runtime, {
      store,
      outbound,
      identity,
      credentials,
      connect,
      mirrors,
      packages,
      status,
      registry,
      changes,
      hosted,
      verification,
    }),
  )
  const { domain } = verification
  const isFirstStart = (await store.read.revision()) === 0
  const listedAt = await listHosted({ store, clock, createId, domain }, hosted, { version, license })
  const { settled, rebuilt, listed } = createSettling({ store, search, tailer, ready })
  await listed(listedAt, isFirstStart)
  const revision = () => search.index.applied_revision
  const push = openPush(runtime, outbound, vault, identity.standing)
  const router = await openRouter(runtime, {
    store,
    agents: hosted,
    registry,
    metrics,
    traffic,
    revision,
    agentOf,
    push,
    standing: identity.standing,
    onListed: search.listed.onChange,
  })
  return {
    ...router,
    authenticate: identity.authenticate,
    standing: identity.standing,
    agents: hosted,
    config,
    identity,
    signIn,
    signIns,
    store,
    tailer,
    ready,
    settled,
    rebuilt,
    vectors: search.vectors,
    verification,
    liveness,
    survey: openSurvey(runtime, store, outbound),
    sweep,
    mirrors,
    changes,
    log,
    health: runtime.health,
    checkSecretKey: () => checkSecretKey(runtime, store.settings, vault),
    metrics,
    traffic,
    site,
    clock,
    onListed: search.listed.onChange,
    trusted_proxies: addressSet(config.DRAGOMAN_TRUSTED_PROXIES),
    mcp_tools: config.DRAGOMAN_MCP_TOOLS,
    unconfigured: unconfiguredAgents(config),
    onError: runtime.onErrorOf('transport'),
    onErrorOf: runtime.onErrorOf,
    reachedAt,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
