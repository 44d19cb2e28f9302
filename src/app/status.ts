import { hostname } from 'node:os'
import type { StatusPort } from '../../agents/registry/port.ts'
import { codes, Failure } from '../../schemas/failure.ts'
import { holds } from '../../schemas/scope.ts'
import type { UpstreamTrouble } from '../../schemas/status.ts'
import type { Mirrors } from '../registry/mirror/mirrors.ts'
import type { UnmetQueries } from '../registry/queries/unmet-queries.ts'
import type { Registry } from '../registry/registry.ts'
import type { Store } from '../store/store.ts'
import type { Traffic } from '../telemetry/traffic.ts'
import { version } from './assets.ts'
import { storeLocation } from './config.ts'
import type { RegistryServices } from './registry.ts'
import type { Runtime } from './runtime.ts'

interface StatusPorts extends Pick<RegistryServices, 'tailer' | 'ready'> {
  readonly store: Store
  readonly registry: Registry
  readonly mirrors: Mirrors
  readonly traffic: Traffic
  readonly unmet: UnmetQueries | undefined
}

/** Agents in trouble that are shown. */
const maxUpstreams = 20

/** What this process knows of itself and of the registry. */
export function openStatus(runtime: Runtime, ports: StatusPorts): StatusPort {
  const { config, clock, health, createId } = runtime
  const { store, registry, mirrors, traffic, unmet, tailer, ready } = ports
  const node = { id: createId().slice(-8), started_at: new Date(clock()).toISOString() }
  const kind = storeLocation(config).url === undefined ? 'sqlite' : 'postgresql'
  let isReady = false
  ready.then(
    () => {
      isReady = true
    },
    () => {},
  )

  async function agentCounts(signal: AbortSignal) {
    const find = (live?: boolean) => {
      const query = { limit: 1, sort: 'newest', facets: live === undefined } as const
      return registry.search({ ...query, ...(live !== undefined && { filters: { live } }) }, null, signal)
    }
    const [all, answering, silent] = await Promise.all([find(), find(true), find(false)])
    const { total, facets } = all
    const live = { answering: answering.total, silent: silent.total }
    return {
      total,
      callable: facets?.callable ?? {},
      live: { ...live, unknown: total - live.answering - live.silent },
    }
  }

  function nullWhileStarting(fault: unknown): null {
    if (isReady) throw fault
    return null
  }

  /** The agents that everybody may see; others have names that are private. */
  async function listed(troubles: readonly UpstreamTrouble[]): Promise<UpstreamTrouble[]> {
    const shown: UpstreamTrouble[] = []
    for (const trouble of troubles) {
      if (shown.length === maxUpstreams) break
      const entry = await registry.get(trouble.agent, null).catch(unlessHidden)
      if (entry) shown.push(trouble)
    }
    return shown
  }

  return {
    async read(caller, signal) {
      const isAdmin = caller !== null && holds(caller, 'admin')
      const troubles = traffic.upstreams()
      const revision = await store.read.revision().catch(() => null)
      const [agents, states, upstreams] =
        revision === null
          ? [null, [], []]
          : await Promise.all([
              agentCounts(signal).catch(nullWhileStarting),
              mirrors.list(),
              isAdmin ? troubles.slice(0, maxUpstreams) : listed(troubles),
            ])
      const reasons = [...health, ...(revision === null ? ['store_unavailable'] : [])]
      const isWell = reasons.length === 0
      return {
        status: !isReady ? 'starting' : isWell ? 'ready' : 'degraded',
        version,
        at: new Date(clock()).toISOString(),
        node,
        store: { kind, answers: revision !== null },
        revision,
        applied_revision: tailer.applied_revision,
        agents,
        mirrors: states.map(({ name, kind: source, status, finished_at, next_at, counts }) => {
          return { name, kind: source, status, finished_at, next_at, counts }
        }),
        upstreams,
        hours: traffic.hours(),
        ...(isAdmin && {
          detail: {
            host: hostname(),
            process: process.pid,
            memory_bytes: process.memoryUsage.rss(),
            reasons,
            mirror_errors: states.flatMap(({ name, url, error }) =>
              error ? [{ name, url, code: error.code, message: error.message }] : [],
            ),
            ...(unmet && { unmet_queries: unmet.list() }),
          },
        }),
      }
    },
  }
}

function unlessHidden(thrown: unknown): undefined {
  if (thrown instanceof Failure && codes[thrown.code].http < 500) return undefined
  throw thrown
}
