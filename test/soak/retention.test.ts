import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import type { Principal } from '../../schemas/scope.ts'
import { readConfig } from '../../src/app/config.ts'
import { openGateway } from '../../src/app/gateway.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { temporaryFolder } from '../support/command.ts'
import { everyScope } from '../support/gateway.ts'

/** A tenth of the owners where only a few rounds are wanted. */
const owners = process.env.SOAK_ROUNDS === undefined ? 1000 : 100
const days = 90
const day = 24 * 3_600_000

/** A sequence of numbers from 0 to 1 that is the same in each run. */
function createRandom(): () => number {
  let state = 20_261_123
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** Rows of each table, and the bytes of the pages in use. */
function sizes(path: string): Record<string, number> {
  const database = new DatabaseSync(path, { readOnly: true })
  const names = database.prepare(`select name from sqlite_master where type = 'table'`).all()
  const rows = names.map(({ name }) => [
    String(name),
    Number(database.prepare(`select count(*) as rows from "${name}"`).get()?.rows),
  ])
  const pragma = (name: string) => Number(Object.values(database.prepare(`pragma ${name}`).get() ?? {})[0])
  const bytes = (pragma('page_count') - pragma('freelist_count')) * pragma('page_size')
  database.close()
  return { ...Object.fromEntries(rows), bytes }
}

function largest(all: readonly Record<string, number>[]): Record<string, number> {
  const names = Object.keys(all[0] ?? {})
  return Object.fromEntries(names.map((name) => [name, Math.max(...all.map((sizes) => sizes[name] ?? 0))]))
}

test('a registry in use for 90 days stops growing', { timeout: 1_800_000 }, async () => {
  await using folder = await temporaryFolder()
  let now = Date.UTC(2026, 0, 1)
  const config = readConfig({
    DRAGOMAN_DATA: folder.path,
    DRAGOMAN_RATE_LIMIT: 'off',
    DRAGOMAN_LIVENESS: 'off',
    // A month is to end within the 90 days, as a year does within years.
    DRAGOMAN_RETENTION: 'versions=15,max_versions=5,audit=20,changes=10,deleted=20',
  })
  await using gateway = await openGateway(config, { clock: () => now, log: createLogger('silent') })
  const random = createRandom()
  const signal = new AbortController().signal
  const ask = (principal: Principal | null, to: string, action: string, params: object) =>
    gateway
      .dispatch(
        { to, action, params: params as Record<string, unknown> },
        { principal, client: { address: '192.0.2.1', via: [] }, signal },
      )
      .then(
        ({ output }) => output as Record<string, unknown>,
        () => undefined,
      )
  const people = Array.from({ length: owners }, (_, index) => ({
    principal: {
      issuer: 'urn:dragoman:local',
      subject: `owner-${index}`,
      scopes: new Set(everyScope),
      namespaces: [],
    } satisfies Principal,
    agents: [] as string[],
  }))

  async function live({ principal, agents }: (typeof people)[number], today: number): Promise<void> {
    const registry = (action: string, params: object) => ask(principal, 'svc.registry', action, params)
    const text = `${principal.subject} on day ${today}: ${'what this agent does. '.repeat(10)}`
    const content = {
      name: 'An agent',
      description: text,
      capabilities: [{ name: 'work', description: text }],
    }
    const chance = random()
    if (agents.length < 3 && chance < 0.4) {
      const published = await registry('publish', {
        ...content,
        package_name: `com.example.${principal.subject}.day-${today}`,
        version: '1.0.0',
      })
      if (!published) return
      agents.push(String(published.id))
      await registry('go_live', { agent: published.id })
    } else if (agents.length > 0 && chance < 0.8) {
      await registry('update', {
        agent: agents[0],
        ...content,
        ...(chance < 0.6 && { version: `1.${today}.0` }),
      })
    } else if (agents.length > 0 && chance < 0.9) await registry('delete', { agent: agents.shift() })
    else if (chance < 0.94) await registry('report', { agent: 'svc.utility.wiki', reason: 'other' })
    else if (chance < 0.97) await registry('create_key', { label: `day ${today}`, ttl_s: 3600 })
    else {
      const session = await ask(principal, 'svc.playground', 'create_session', {
        idempotency_key: `day-${today}-key`,
      })
      await ask(principal, 'svc.playground', 'discover', { session: session?.id, query: 'read a page' })
    }
  }

  const path = `${folder.path}/registry.sqlite`
  const seen: Record<string, number>[] = []
  for (let today = 1; today <= days; today++) {
    for (const person of people) await live(person, today)
    await ask(null, 'svc.playground', 'create_session', {})
    now += day
    if (await gateway.sweep.isDue()) await gateway.sweep.run()
    seen.push(sizes(path))
  }
  // Vectors are stored after their entries: the size on one day depends on how busy the machine is.
  const [month, end] = [largest(seen.slice(50, 60)), largest(seen.slice(80, 90))]
  console.log('at most until days 60 and 90', month, end)
  const grown = Object.keys(end).filter((name) => {
    const [before = 0, after = 0] = [month[name], end[name]]
    return after > before * 1.1 + (name === 'bytes' ? 200_000 : 40)
  })
  expect(grown).toEqual([])
  expect(end.entry).toBeGreaterThan(owners / 2)
})
