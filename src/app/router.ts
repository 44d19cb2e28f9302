import { randomUUID } from 'node:crypto'
import type { Agent } from '../../schemas/action.ts'
import { Failure } from '../../schemas/failure.ts'
import { registryName } from '../../schemas/names.ts'
import type { Standing } from '../auth/standing.ts'
import { createPaced, type OnChange } from '../common/paced.ts'
import { createResolve } from '../registry/queries/resolve.ts'
import type { Registry } from '../registry/registry.ts'
import type { Router } from '../router/call.ts'
import { createIdempotency } from '../router/idempotency.ts'
import { Limiter, noLimits } from '../router/limiter.ts'
import { createRouter } from '../router/router.ts'
import { withSessions } from '../router/sessions.ts'
import { openRates } from '../store/open-store.ts'
import type { Store } from '../store/store.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { createObserver } from '../telemetry/observe.ts'
import type { Traffic } from '../telemetry/traffic.ts'
import type { PushPort } from '../transports/a2a/tasks/push.ts'
import { TaskManager } from '../transports/a2a/tasks/task-manager.ts'
import type { TransportContext } from '../transports/shared/transport-context.ts'
import { storeLocation } from './config.ts'
import type { ListedAgents } from './remote.ts'
import type { Runtime } from './runtime.ts'

interface RouterPorts extends Pick<ListedAgents, 'agentOf'> {
  readonly store: Store
  readonly agents: readonly Agent[]
  readonly registry: Registry
  readonly metrics: Metrics
  readonly traffic: Traffic
  readonly push: PushPort
  readonly standing: Standing
  /** Calls the listener when agents are listed or unlisted. */
  readonly onListed: OnChange
  /** The registry revision that answers reflect at least. */
  readonly revision: () => number
}

/** Dispatch over hosted and listed agents, and A2A tasks, which are dispatches in the background. */
export interface Routing extends Router {
  readonly taskManager: TaskManager
  readonly count: TransportContext['count']
  readonly limits: TransportContext['limits']
}

export async function openRouter(runtime: Runtime, ports: RouterPorts): Promise<Routing> {
  const { stack, config, options, clock, log } = runtime
  const { store, agents, registry, metrics, traffic, revision, agentOf, push, standing, onListed } = ports
  const onError = runtime.onErrorOf('router')
  const limits = await openRateLimits(runtime)
  const { admit, chargeCheck, chargeWrite } = limits
  const hosted = new Set(
    agents.flatMap((agent) => agent.actions.map((action) => `${agent.package_name} ${action.name}`)),
  )
  const router = createRouter({
    resolve: createResolve(agents, registry.get, agentOf),
    admit,
    chargeCheck,
    chargeWrite,
    observe: createObserver({ log, metrics, traffic }, (to, action) => hosted.has(`${to} ${action}`)),
    revision,
    standing,
    clock,
    createId: randomUUID,
    check_outputs: config.DRAGOMAN_CHECK_OUTPUTS === 'on',
    once: createIdempotency({ store: store.idempotency, clock, createId: randomUUID, onError }),
  })
  /** A suspension ends the calls that run, too. Reads an entry for each called agent, so not for each change. */
  async function endSuspended(): Promise<void> {
    for (const package_name of router.calledAgents()) {
      const entry = await store.read.entry({ package_name })
      if (!entry?.suspended) continue
      router.endCallsTo(package_name, new Failure('not_found', `${package_name} is no longer listed here.`))
    }
  }
  stack.defer(createPaced(onListed)(() => void endSuspended().catch(onError)))
  return {
    ...withSessions(router, 'svc.playground'),
    taskManager: stack.use(new TaskManager({ store: store.tasks, clock, onError, push, ...options.tasks })),
    limits,
    async count(call) {
      await admit({ to: registryName, action: 'read' }, call)
    },
  }
}

/** The rate limits of the configuration; gateways over one database may share the counts. */
async function openRateLimits(runtime: Runtime): Promise<typeof noLimits> {
  const { stack, config, clock } = runtime
  const { url } = storeLocation(config)
  if (config.DRAGOMAN_RATE_LIMIT === 'off') return noLimits
  if (config.DRAGOMAN_RATE_LIMIT === 'on' || url === undefined) return new Limiter(clock)
  const onError = runtime.onErrorOf('rate limits', 'warn')
  const { take } = stack.use(await openRates(url, onError))
  return new Limiter(clock, { take, onError })
}
