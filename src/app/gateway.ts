import { setFlagsFromString } from 'node:v8'
import type { Agent } from '../../schemas/action.ts'
import { Failure } from '../../schemas/failure.ts'
import { createVault } from '../auth/vault.ts'
import { addressSet } from '../common/address-set.ts'
import type { Survey } from '../registry/capabilities/survey.ts'
import { listHosted } from '../registry/entry/hosted.ts'
import type { VectorIndexSwitch } from '../registry/indexing/vector-index-switch.ts'
import type { Mirrors } from '../registry/mirror/mirrors.ts'
import { createUnmetQueries } from '../registry/queries/unmet-queries.ts'
import { openStore } from '../store/open-store.ts'
import type { Store } from '../store/store.ts'
import { createMetrics, type Metrics } from '../telemetry/metrics.ts'
import { createTraffic, type Traffic } from '../telemetry/traffic.ts'
import type { TransportContext } from '../transports/shared/transport-context.ts'
import { openAgents } from './agents.ts'
import { license, version } from './assets.ts'
import { type Config, storeLocation, unconfiguredAgents } from './config.ts'
import { protectFiles } from './file-modes.ts'
import { type Identity, openIdentity } from './identity.ts'
import { openLogins } from './logins.ts'
import { openMirrors } from './mirrors.ts'
import { createOutbound } from './outbound.ts'
import { openPackages } from './packages.ts'
import { openPush } from './push.ts'
import { openRegistryServices, type RegistryServices } from './registry.ts'
import { type ListedAgents, openCredentials, openListedAgents, openRemotes } from './remote.ts'
import { retryStart } from './retry-start.ts'
import { openRouter, type Routing } from './router.ts'
import { createRuntime, type GatewayOptions, type Runtime } from './runtime.ts'
import { openSearch } from './search.ts'
import { checkSecretKey, secretKey } from './secret-key.ts'
import { createSettling, type Settling } from './settling.ts'
import { openSignIn, type SignIn } from './sign-in.ts'
import { startFailure } from './start-failure.ts'
import { openStatus } from './status.ts'
import { HealthObserver } from './store-observer.ts'
import { openSurvey } from './survey.ts'
import { openUpstream } from './upstream.ts'

/** The registry, its agents and the router, before any transport: the context of every transport, and what serves it. */
export interface Gateway
  extends AsyncDisposable,
    Omit<TransportContext, 'site' | 'standing'>,
    Pick<Runtime, 'config' | 'log' | 'health' | 'site' | 'clock' | 'onErrorOf' | 'reachedAt'>,
    Pick<RegistryServices, 'tailer' | 'ready' | 'verification' | 'liveness' | 'sweep' | 'changes'>,
    Pick<Settling, 'settled' | 'rebuilt'>,
    Pick<Identity, 'standing'>,
    Pick<Routing, 'endCalls' | 'taskManager'>,
    Pick<ListedAgents, 'signIns'> {
  readonly identity: Identity
  readonly signIn: SignIn
  readonly store: Store
  readonly vectors: VectorIndexSwitch
  readonly survey: Survey
  readonly mirrors: Mirrors
  readonly metrics: Metrics
  readonly traffic: Traffic
  /** Reports a secret key that is not that of the registry; for a gateway that serves. */
  checkSecretKey(): Promise<void>
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

/** Each phase receives the results of earlier phases, so no part is used before it exists; only `hosted` is filled later. */
async function assemble(
  stack: AsyncDisposableStack,
  config: Config,
  options: GatewayOptions,
): Promise<Gateway> {
  const runtime = createRuntime(stack, config, options)
  const { clock, log, createId, site, reachedAt } = runtime
  const store = await openGatewayStore(runtime)
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
  const metrics = openMetrics(runtime, () => search.index.applied_revision)
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

async function openGatewayStore(runtime: Runtime): Promise<Store> {
  const { stack, config, clock, options } = runtime
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
      // A gateway that leaves the index to a search engine is there to be small.
      cached_characters: config.DRAGOMAN_SEARCH === 'memory' ? undefined : 8_000_000,
    }),
  )
  observer.watch(store)
  return store
}

function openMetrics({ health, outage }: Runtime, appliedRevision: () => number): Metrics {
  return createMetrics({
    dragoman_applied_revision: ['Registry revision that the search index has applied.', appliedRevision],
    dragoman_degraded: ['Reasons for which /readyz says degraded.', () => health.size],
    dragoman_store_away: [
      '1 while the database does not answer, or refuses connections.',
      () => Number(outage.lasts),
    ],
  })
}
