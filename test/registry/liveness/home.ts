import type { Endpoint } from '../../../schemas/entry-parts.ts'
import type { StoredEntry } from '../../../src/store/stored-entry.ts'
import { sampleEntry } from '../../support/entries.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import type { LivingAgents } from '../../support/living.ts'
import { createTime, type Time } from '../../support/time.ts'

export const signal: AbortSignal = new AbortController().signal
export const minute = 60_000
export const hour = 60 * minute
export const day = 24 * hour

/** A gateway with a stopped clock, over agents with the given behaviours. */
export interface Home extends AsyncDisposable {
  readonly gateway: TestGateway
  readonly time: Time
  /** Lists agents of these names as the server has them. */
  list(agents: LivingAgents, ...names: string[]): Promise<StoredEntry[]>
  /** Runs the due probes, and waits until searches see the results. */
  cycle(): Promise<number>
  /** The public view of the entry. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  entry(name: string): Promise<any>
}

export async function openHome(
  servers: readonly LivingAgents[],
  environment: Record<string, string> = {},
  time = createTime(Date.parse('2026-11-01T00:00:00Z')),
): Promise<Home> {
  const allowed = servers.flatMap(({ origin, port }) => [origin, `https://127.0.0.1:${port}`])
  const gateway = await startGateway(
    { DRAGOMAN_ALLOW_ORIGINS: [...allowed, 'http://127.0.0.1:9'].join(), ...environment },
    {
      clock: time.clock,
      liveness: { random: () => 0.5, gap_ms: 0, timeout_ms: 2000 },
      lookup: (_, __, done) => done(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), []),
    },
  )
  const { store, tailer, liveness, vectors } = gateway.gateway
  return {
    gateway,
    time,
    async list(agents, ...names) {
      const entries = names.map((name) => entryAt(agents, name))
      const { revision } = await store.write(async (writer) => {
        for (const entry of entries) await writer.put(entry)
      })
      await Promise.all([tailer.caughtUp(revision), vectors.caughtUp(revision)])
      return entries
    },
    async cycle() {
      const count = await liveness.prober.run(signal)
      await tailer.caughtUp(await store.read.revision())
      return count
    },
    entry: async (name) => (await gateway.request('GET', `/public/agents/${nameOf(name)}`)).json,
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  }
}

export function nameOf(name: string): string {
  return `com.example.${name.replace(/[^a-z0-9]+/g, '-')}`
}

function entryAt(agents: LivingAgents, name: string): StoredEntry {
  const { manifest_url, endpoint_url } = agents.siteOf(name)
  const endpoints: Endpoint[] = endpoint_url === null ? [] : [{ protocol: 'envelope', url: endpoint_url }]
  return sampleEntry({ package_name: nameOf(name), name, manifest_url, endpoints, state: 'ACTIVE' })
}
