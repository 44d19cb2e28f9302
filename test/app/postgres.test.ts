import { once } from 'node:events'
import { cp } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startJobs } from '../../src/app/jobs.ts'
import type { GatewayOptions } from '../../src/app/runtime.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { serveTargets } from '../registry/webhooks/targets.ts'
import { serveA2a } from '../support/a2a-agents.ts'
import { command, run, temporaryFolder } from '../support/command.ts'
import { embeddingServer } from '../support/embedding-server.ts'
import { eventsOf, take } from '../support/events.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { startRevision } from '../support/hosted.ts'
import { list, listByCard } from '../support/listed.ts'
import { postgresFolder, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { run as runProcess } from '../support/processes.ts'
import { publication } from '../support/registry.ts'
import { serve } from '../support/serve.ts'

/**
 * The address of a proxy in front of a database; once frozen it accepts all connections and bytes, and passes none. It
 * freezes by itself when it is to pass the text `at`.
 */
async function freezable(database: string, at?: string) {
  const address = new URL(database)
  const path = `${address.searchParams.get('host')}/.s.PGSQL.5432`
  const received = Promise.withResolvers<void>()
  const sockets = new Set<Socket>()
  let isFrozen = false
  const proxy = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect(path)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('error', () => {})
      from.on('data', (bytes) => {
        isFrozen ||= at !== undefined && bytes.includes(at)
        if (!isFrozen) to.write(bytes)
        else if (from === near) received.resolve()
      })
      from.on('end', () => isFrozen || to.end())
    }
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const { port } = proxy.address() as AddressInfo
  return {
    url: `postgresql://postgres@127.0.0.1:${port}${address.pathname}`,
    /** Resolves once something is asked of the frozen database. */
    received: received.promise,
    freeze() {
      isFrozen = true
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      proxy.close()
    },
  }
}

describe.skipIf(!postgresFolder)('gateways over one PostgreSQL database', () => {
  let postgres: TestPostgres
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres?.[Symbol.asyncDispose]())

  /** Two gateways over one database, with separate data folders; the operator copies the keys. */
  async function startPair(settings: Record<string, string> = {}, ofSecond: GatewayOptions = {}) {
    const stack = new AsyncDisposableStack()
    const { path } = stack.use(await temporaryFolder())
    const DATABASE_URL = await postgres.createDatabase()
    const [here, there] = [join(path, 'here'), join(path, 'there')]
    const start = async (DRAGOMAN_DATA: string, options: GatewayOptions = {}) =>
      stack.use(await startGateway({ ...settings, DATABASE_URL, DRAGOMAN_DATA }, options))
    const first = await start(here)
    await cp(join(here, 'keys'), join(there, 'keys'), { recursive: true })
    const second = await start(there, ofSecond)
    await Promise.all([first.gateway.ready, second.gateway.ready])
    return { first, second, [Symbol.asyncDispose]: () => stack.disposeAsync() }
  }

  test('ask a remote model for each text once', async () => {
    await using model = await embeddingServer()
    const remote = { DRAGOMAN_EMBEDDER: 'http', DRAGOMAN_MODEL: 'm', DRAGOMAN_EMBEDDINGS_URL: model.url }
    await using pair = await startPair(remote)
    for (const name of ['rain', 'mail', 'price'])
      await list(pair.first, {
        package_name: `com.example.${name}`,
        capabilities: [{ name, description: `Tells the ${name}.` }],
      })
    const listed = await pair.first.gateway.store.read.latest()
    for (const { gateway } of [pair.first, pair.second])
      await vi.waitUntil(
        () => {
          const { model: serving, applied_revision } = gateway.vectors.progress()
          return serving === 'http:m:4' && applied_revision === listed
        },
        { timeout: 20_000 },
      )
    // Each start asks for a first vector, which tells the dimensions.
    const [firstText, ...texts] = model.embedded
    const documents = texts.filter((text) => text !== firstText)
    expect(documents.length).toBeGreaterThan(3)
    expect(documents.toSorted()).toEqual([...new Set(documents)].toSorted())
  })

  test('show a write at once to a caller who wrote at another gateway', async () => {
    await using pair = await startPair()
    const { first, second } = pair
    const token = await first.token('ada')
    const body = publication('com.example.counted')
    const { json: entry } = await first.request('POST', '/api/agents/publish', { token, body })
    for (let version = 1; version <= 30; version++) {
      const [writing, reading] = version % 2 ? [first, second] : [second, first]
      await writing.request('PUT', `/api/agents/${entry.id}`, { token, body: { name: `No. ${version}` } })
      const seen = reading.request('GET', `/public/agents/${entry.id}`, { token })
      const listed = reading.request('GET', `/api/agents?mine=true&q=${version}`, { token })
      expect((await seen).json.name).toBe(`No. ${version}`)
      expect((await listed).json.agents[0]).toMatchObject({ name: `No. ${version}` })
    }
  })

  test('share the counts of calls if configured, and count separately while the database is unavailable', async () => {
    await using own = await startPostgres()
    const shared = { DATABASE_URL: await own.createDatabase(), DRAGOMAN_RATE_LIMIT: 'shared' }
    await using first = await startGateway(shared)
    await using second = await startGateway(shared)
    const session = (gateway: typeof first) => gateway.request('POST', '/api/playground/session')
    const statuses: number[] = []
    for (let call = 0; call < 11; call++) {
      for (const gateway of [first, second]) statuses.push((await session(gateway)).status)
    }
    expect(statuses).toEqual([...Array(20).fill(201), 429, 429])
    const refused = await session(first)
    expect(refused.json).toMatchObject({ code: 'rate_limited' })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(50)
    const search = (gateway: typeof first) => gateway.request('GET', '/public/agents?q=weather')
    expect((await search(first)).headers.get('ratelimit')).toMatch(/r=119/)
    expect((await search(second)).headers.get('ratelimit')).toMatch(/r=118/)
    await own.stop()
    // The limit still applies to all callers, and the fault refuses no call.
    expect((await search(second)).headers.get('ratelimit')).toMatch(/r=119/)
  })

  test('end without a line about an outage if they share the counts of calls', async () => {
    const lines: string[] = []
    const log = createLogger('warn', { write: (line) => void lines.push(line) })
    const shared = { DATABASE_URL: await postgres.createDatabase(), DRAGOMAN_RATE_LIMIT: 'shared' }
    {
      await using home = await startGateway(shared, { log })
      await home.request('GET', '/public/agents?q=weather')
    }
    expect(lines).toEqual([])
  })

  test('end within the time of a stop although the database has frozen, and fail what waits for it', async () => {
    await using folder = await temporaryFolder()
    await using wire = await freezable(await postgres.createDatabase())
    await using home = await serve(folder.path, {
      DATABASE_URL: wire.url,
      DRAGOMAN_RATE_LIMIT: 'shared',
      DRAGOMAN_LOG: 'warn',
    })
    wire.freeze()
    const answer = fetch(`${home.url}/public/agents/svc.wiki/versions`)
    await wire.received
    home.process.kill('SIGTERM')
    expect([503, 504]).toContain((await answer).status)
    const { code, stderr } = await home.ended
    expect(code, stderr).toBe(0)
  }, 26_000)

  test('end when they are told to although the database has frozen in the middle of their start', async () => {
    await using folder = await temporaryFolder()
    await using wire = await freezable(await postgres.createDatabase(), 'create table')
    await using home = runProcess(process.execPath, [command, 'serve'], {
      DATABASE_URL: wire.url,
      DRAGOMAN_DATA: folder.path,
      PORT: '0',
    })
    await wire.received
    home.process.kill('SIGTERM')
    const { signal, stderr } = await home.ended
    expect([signal, stderr]).toEqual([null, expect.not.stringContaining('    at ')])
  }, 26_000)

  test('say while the database is away what is wrong, and doctor still finds the gateway', async () => {
    await using own = await startPostgres()
    await using folder = await temporaryFolder()
    const DATABASE_URL = await own.createDatabase()
    await using home = await serve(folder.path, { DATABASE_URL })
    await own.stop()
    const readyz = async () => (await fetch(`${home.url}/readyz`)).json()
    await vi.waitFor(async () => {
      expect(await readyz()).toMatchObject({ status: 'not ready', reasons: ['store_unavailable'] })
    }, 5000)
    expect(await (await fetch(`${home.url}/metrics`)).text()).toContain('\ndragoman_store_away 1\n')
    const { stdout } = await run(['doctor', '--json'], { DRAGOMAN_DATA: folder.path, DATABASE_URL })
    expect(JSON.parse(stdout).checks).toContainEqual({
      check: 'gateway',
      ok: true,
      detail: `runs at ${home.url}`,
    })
    expect(JSON.parse(stdout).checks).toContainEqual({
      check: 'gateway',
      ok: false,
      detail: expect.stringMatching(/^store_unavailable: the database does not answer\. /),
    })
  })

  test('log that the database is away in one line, and that it is back in another', async () => {
    await using own = await startPostgres()
    await using folder = await temporaryFolder()
    const lines: { msg: string; level: number; reason?: string; seconds?: number; err?: unknown }[] = []
    const log = createLogger('warn', { write: (line) => void lines.push(JSON.parse(line)) })
    const environment = { DRAGOMAN_DATA: folder.path, DATABASE_URL: await own.createDatabase() }
    const rates = { DRAGOMAN_RATE_LIMIT: 'shared', DRAGOMAN_LIVENESS: 'on' }
    await using home = await startGateway({ ...environment, ...rates }, { log })
    await using _jobs = startJobs(home.gateway)
    await home.gateway.ready
    const states = async () => (await home.request('GET', '/readyz')).json.status
    expect(lines).toEqual([])
    await own.stop()
    await vi.waitFor(async () => expect(await states()).toBe('not ready'), 5000)
    // The index, the revocations and the jobs try again meanwhile, and callers too.
    for (let call = 0; call < 3; call++) await home.request('GET', `/public/agents?q=call+${call}`)
    expect(lines).toMatchObject([{ level: 50, msg: 'the store cannot be reached', seconds: 0 }])
    expect(lines[0]?.reason).not.toBe('')
    await own.start()
    await vi.waitFor(async () => expect(await states()).toBe('ready'), 10_000)
    await vi.waitFor(() => expect(lines[1]).toMatchObject({ level: 40, msg: 'the store is back' }), 10_000)
    expect(lines).toHaveLength(2)
    expect(JSON.stringify(lines)).not.toContain('stack')
  }, 60_000)

  test('log in one line that the database refuses them, and go on once it does not', async () => {
    await using own = await startPostgres()
    await using folder = await temporaryFolder()
    const lines: { msg: string; level: number; reason?: string }[] = []
    const log = createLogger('warn', { write: (line) => void lines.push(JSON.parse(line)) })
    const database = await own.createDatabase()
    await own.query(database, 'create user gateway superuser')
    const DATABASE_URL = database.replace('user=postgres', 'user=gateway')
    await using home = await startGateway({ DRAGOMAN_DATA: folder.path, DATABASE_URL }, { log })
    await home.gateway.ready
    const states = async () => (await home.request('GET', '/readyz')).json.status
    await own.query(database, 'alter user gateway nologin')
    await own.query(
      database,
      `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'gateway'`,
    )
    await vi.waitFor(async () => expect(await states()).toBe('not ready'), 5000)
    for (let call = 0; call < 3; call++) await home.request('GET', `/public/agents/com.example.a${call}`)
    await own.query(database, 'alter user gateway login')
    await vi.waitFor(async () => expect(await states()).toBe('ready'), 10_000)
    await vi.waitFor(
      () => expect(lines.at(-1)).toMatchObject({ level: 40, msg: 'the store is back' }),
      10_000,
    )
    expect(lines).toMatchObject([{ level: 50, msg: 'the store cannot be reached' }, { level: 40 }])
  }, 60_000)

  test('say that the server they are left with is a replica before anybody writes, and go on when it is promoted', async () => {
    await using own = await startPostgres()
    await using folder = await temporaryFolder()
    const lines: { msg: string; reason?: string }[] = []
    const log = createLogger('warn', { write: (line) => void lines.push(JSON.parse(line)) })
    const DATABASE_URL = await own.createDatabase()
    await using home = await startGateway({ DRAGOMAN_DATA: folder.path, DATABASE_URL }, { log })
    await home.gateway.ready
    const readyz = async () => (await home.request('GET', '/readyz')).json
    await own.stop()
    await own.startReplica()
    await vi.waitFor(
      async () => expect(await readyz()).toMatchObject({ status: 'degraded', reasons: ['read_only'] }),
      10_000,
    )
    const { revision } = await readyz()
    await own.query(DATABASE_URL, 'select pg_promote()')
    const published = await home.request('POST', '/api/agents/publish', {
      body: publication('com.example.after'),
      token: await home.token('owner'),
    })
    expect(published.status, published.text).toBe(201)
    expect(await readyz()).toMatchObject({ status: 'ready', reasons: [] })
    await vi.waitFor(async () => expect((await readyz()).applied_revision).toBeGreaterThan(revision), 5000)
    const ofStore = () =>
      lines.filter(({ msg }) => /\bstore\b/.test(msg)).map(({ msg, reason }) => [msg, reason])
    await vi.waitFor(() => expect(ofStore()).toHaveLength(4), 10_000)
    const [first, second, ...ends] = ofStore()
    expect(first).toEqual(['the store cannot be reached', expect.any(String)])
    expect(second).toEqual(['the store refuses writes', 'read_only'])
    expect(ends.map(([msg]) => msg).toSorted()).toEqual([
      'the store accepts writes again',
      'the store is back',
    ])
  }, 60_000)

  test('say that their clock differs from that of the database, until it does not', async () => {
    await using folder = await temporaryFolder()
    const lines: { msg: string; level: number; seconds?: number }[] = []
    const log = createLogger('warn', { write: (line) => void lines.push(JSON.parse(line)) })
    const environment = { DRAGOMAN_DATA: folder.path, DATABASE_URL: await postgres.createDatabase() }
    let late = 60_000
    await using home = await startGateway(environment, { log, clock: () => Date.now() - late })
    const readyz = async () => (await home.request('GET', '/readyz')).json
    const degraded = { status: 'degraded', reasons: ['clock_differs'] }
    await vi.waitFor(async () => expect(await readyz()).toMatchObject(degraded), 10_000)
    const metrics = async () => (await home.request('GET', '/metrics')).text
    expect(await metrics()).toContain('\ndragoman_degraded 1\n')
    late = 0
    await vi.waitFor(async () => expect(await readyz()).toMatchObject({ status: 'ready' }), 10_000)
    expect(await metrics()).toContain('\ndragoman_degraded 0\n')
    const ofClock = lines.filter(({ msg }) => msg.startsWith('the clock'))
    expect(ofClock).toMatchObject([{ level: 50, seconds: 60 }, { level: 40 }])
  }, 30_000)

  test('go by the clock of the database, so that one that is ahead does not end the tasks of another', async () => {
    await using agent = await serveA2a()
    const ahead = { clock: () => Date.now() + 120_000 }
    await using pair = await startPair({ DRAGOMAN_ALLOW_ORIGINS: agent.origin }, ahead)
    const { first, second } = pair
    await listByCard(first, 'com.example.greeter', agent.origin)
    const headers = { 'A2A-Version': '1.0', 'Content-Type': 'application/a2a+json' }
    const token = await first.token('ada')
    const parts = [{ data: { to: 'com.example.greeter', action: 'hang', params: {} } }]
    const body = {
      configuration: { returnImmediately: true },
      message: { messageId: 'm', role: 'ROLE_USER', parts },
    }
    const sent = await first.request('POST', '/a2a/v1/message:send', { token, headers, body })
    const { id } = sent.json.task
    const readyz = async () => (await second.request('GET', '/readyz')).json
    await vi.waitFor(async () => expect((await readyz()).reasons).toEqual(['clock_differs']), 10_000)
    for (const gateway of [second, first]) {
      const { json } = await gateway.request('GET', `/a2a/v1/tasks/${id}`, { token, headers })
      expect(json.status.state).toMatch(/SUBMITTED|WORKING/)
    }
  })

  test('are not ready while the database has frozen, and answer a balancer that asks', async () => {
    await using folder = await temporaryFolder()
    await using wire = await freezable(await postgres.createDatabase())
    // No statement has a time-out of its own.
    const DATABASE_URL = `${wire.url}?query_timeout=3600000`
    await using home = await startGateway({ DRAGOMAN_DATA: folder.path, DATABASE_URL })
    await home.gateway.ready
    wire.freeze()
    const readyz = () => home.request('GET', '/readyz')
    while ((await readyz()).status === 200);
    expect(await readyz()).toMatchObject({ status: 503, json: { reasons: ['store_unavailable'] } })
    home.gateway.store.abandon?.()
  })

  test('share agents, tokens, keys, sessions and tasks, with separate data folders', async () => {
    await using pair = await startPair()
    const { first, second } = pair
    const token = await first.token('ada')
    const soon = { timeout: 2000, interval: 10 }

    const { status, json: entry } = await first.request('POST', '/api/agents/publish', {
      token,
      body: publication('com.example.umbrella', { description: 'Tells whether umbrellas are needed.' }),
    })
    expect(status).toBe(201)
    await first.request('POST', `/api/agents/${entry.id}/go-live`, { token })
    await vi.waitFor(async () => {
      const { json } = await second.request('GET', '/public/agents?q=umbrellas')
      expect(json.agents[0]).toMatchObject({ package_name: 'com.example.umbrella' })
    }, soon)
    const changed = await second.request('PUT', `/api/agents/${entry.id}`, {
      token,
      body: { name: 'Parasol' },
    })
    expect(changed.status).toBe(200)
    await vi.waitFor(async () => {
      const { json } = await first.request('GET', '/public/agents/com.example.umbrella')
      expect(json.name).toBe('Parasol')
    }, soon)

    const { json: key } = await first.request('POST', '/api/keys', { token, body: { label: 'k' } })
    const withKey = () => second.request('GET', '/api/keys', { token: key.key })
    expect((await withKey()).status).toBe(200)
    await first.request('DELETE', `/api/keys/${key.id}`, { token })
    await vi.waitFor(async () => expect((await withKey()).status).toBe(401), soon)

    const session = (await first.request('POST', '/api/playground/session')).json
    const discovered = await second.request('POST', `/api/playground/session/${session.id}/discover`, {
      body: { query: 'umbrellas' },
    })
    expect(discovered.status).toBe(200)

    const message = {
      configuration: { returnImmediately: true },
      message: {
        messageId: 'm',
        role: 'ROLE_USER',
        parts: [{ data: { to: 'svc.registry', action: 'search_agents', params: { query: 'umbrellas' } } }],
      },
    }
    const headers = { 'A2A-Version': '1.0', 'Content-Type': 'application/a2a+json' }
    const sent = await first.request('POST', '/a2a/v1/message:send', { token, headers, body: message })
    const id = sent.json.task?.id
    const task = await second.request('GET', `/a2a/v1/tasks/${id}`, { token, headers })
    expect([task.status, task.json.id]).toEqual([200, id])
  })

  test('tell followers of either what becomes of the registry, and go on with each other’s', async () => {
    await using targets = await serveTargets()
    await using pair = await startPair({ DRAGOMAN_ALLOW_ORIGINS: targets.url })
    const { first, second } = pair
    const endpoints = [{ protocol: 'envelope' as const, url: 'https://example.com/' }]
    const token = await first.token('ada')
    const body = { url: `${targets.url}/hook`, since: 0 }
    expect((await first.request('POST', '/api/webhooks', { token, body })).status).toBe(201)
    const stop = new AbortController()
    const headers = { Accept: 'text/event-stream' }
    const answer = await fetch(`${second.url}/public/changes`, { headers, signal: stop.signal })
    const received = eventsOf(answer)
    const parts: number[] = []
    const receive = async () => {
      const [first] = await take(received, 1)
      if (first?.event === 'part') parts.push(Number(first.id))
    }
    while (parts.length < startRevision) await receive()
    for (let count = 0; count < 5; count++) {
      const writer = count % 2 === 0 ? first : second
      const other = count % 2 === 0 ? second : first
      await list(writer, { package_name: `com.example.a${count}`, endpoints }, token)
      const { revision } = (await writer.request('GET', `/public/changes?since=${startRevision}`)).json
      // A revision that one gateway reported is accepted by the other at once.
      const page = await other.request('GET', `/public/changes?since=${revision}`)
      expect(page.status).toBe(200)
    }
    const { changes } = (await first.request('GET', `/public/changes?since=${startRevision}`)).json
    while ((parts.at(-1) ?? 0) < changes.at(-1).revision) await receive()
    expect(parts).toEqual([...new Set(parts)].sort((a, b) => a - b))
    const { signal } = new AbortController()
    await first.gateway.changes.deliverer.run(signal)
    await second.gateway.changes.deliverer.run(signal)
    const revisions = targets.revisions('/hook')
    expect(revisions.at(-1)).toBe(changes.at(-1).revision)
    expect(new Set(revisions).size).toBe(revisions.length)
    stop.abort()
  })

  test('a new one starts from a copy of the index of another, and applies what came after', async () => {
    await using folder = await temporaryFolder()
    const DATABASE_URL = await postgres.createDatabase()
    const [here, there] = [join(folder.path, 'here'), join(folder.path, 'there')]
    const endpoints = [{ protocol: 'mcp', url: 'https://folds.example.com/mcp' }] as const
    const listWith = (at: TestGateway, name: string, description: string) =>
      list(at, { package_name: `com.example.${name}`, description, endpoints })
    {
      await using first = await startGateway({ DATABASE_URL, DRAGOMAN_DATA: here })
      await listWith(first, 'early', 'Folds zwieback.')
    }
    for (const part of ['keys', 'index']) await cp(join(here, part), join(there, part), { recursive: true })
    await using again = await startGateway({ DATABASE_URL, DRAGOMAN_DATA: here })
    await listWith(again, 'late', 'Folds zwieback twice.')
    // Whoever derives the index from the database does not find the word any more.
    const renamed = `update entry set document = replace(document, 'Folds zwieback.', 'Folds rusks.')`
    await postgres.query(DATABASE_URL, renamed)
    await using second = await startGateway({ DATABASE_URL, DRAGOMAN_DATA: there })
    await second.gateway.ready
    const { agents } = (await second.request('GET', '/public/agents?q=zwieback&exact=true')).json
    expect(agents.map((agent: { package_name: string }) => agent.package_name).toSorted()).toEqual([
      'com.example.early',
      'com.example.late',
    ])
  })

  test('commands work on the database, and doctor says which it is, without its password', async () => {
    await using folder = await temporaryFolder()
    const DATABASE_URL = `${await postgres.createDatabase()}&password=hush-hush`
    const environment = { DATABASE_URL, DRAGOMAN_DATA: folder.path }
    const found = await run(['search', 'wiki', '--json'], environment)
    expect(JSON.parse(found.stdout).agents[0].package_name).toBe('svc.utility.wiki')
    const { code, stdout, stderr } = await run(['doctor', '--json'], environment)
    expect(`${stdout}${stderr}`).not.toContain('hush-hush')
    const { checks } = JSON.parse(stdout)
    expect(code).toBe(0)
    expect(checks.every((check: { ok: boolean }) => check.ok)).toBe(true)
    expect(checks).toContainEqual({
      check: 'store',
      ok: true,
      detail: expect.stringMatching(/^PostgreSQL at .*\/test_\d+, version \d+/),
    })
    expect(checks).toContainEqual({ check: 'clock', ok: true, detail: expect.stringContaining('together') })
    expect(checks.map((first: { check: string }) => first.check)).toContain('connections')
  })

  test('doctor says of a gateway with other keys than its registry was made with that it has', async () => {
    await using folder = await temporaryFolder()
    const DATABASE_URL = await postgres.createDatabase()
    const [first, second] = ['first', 'second'].map((name) => ({
      DATABASE_URL,
      DRAGOMAN_DATA: join(folder.path, name),
    }))
    expect((await run(['doctor'], first ?? {})).stdout).toMatch(/^ok\s+issuer: urn:dragoman:/m)
    // A process, whose error stream has its log.
    const doctor = runProcess(process.execPath, [command, 'doctor'], second ?? {})
    const { code, stdout, stderr } = await doctor.ended
    expect(code).toBe(1)
    expect(stdout).toMatch(/^FAIL issuer: The registry belongs to urn:dragoman:.*copy keys\//m)
    expect(stderr).toBe('')
  })

  test('one that was started without the keys of the others says so to whoever watches it', async () => {
    await using pair = await startPair()
    const { json } = await pair.second.request('GET', '/readyz')
    expect(json).toMatchObject({ status: 'ready', reasons: [] })
    const DATABASE_URL = await postgres.createDatabase()
    await using _first = await startGateway({ DATABASE_URL })
    await using stranger = await startGateway({ DATABASE_URL })
    await stranger.gateway.ready
    const readyz = await stranger.request('GET', '/readyz')
    expect(readyz.status).toBe(200)
    const reasons = ['keys_differ', 'secret_key_differs']
    expect(readyz.json).toMatchObject({ status: 'degraded', reasons })
    expect((await stranger.request('GET', '/metrics')).text).toContain('\ndragoman_degraded 2\n')
  })

  test('a gateway that fails in the middle of its start ends', async () => {
    await using folder = await temporaryFolder()
    const own = 'http://127.0.0.1:8080'
    const { code, stderr } = await run(['serve'], {
      DATABASE_URL: await postgres.createDatabase(),
      DRAGOMAN_DATA: folder.path,
      DRAGOMAN_BASE_URL: own,
      DRAGOMAN_ISSUERS: JSON.stringify([{ issuer: own, audience: 'x', scopes: {} }]),
      PORT: '0',
    })
    expect(code).toBe(2)
    expect(stderr).toContain('DRAGOMAN_ISSUERS')
  })

  test('doctor says of a database that takes no writes that it does not', async () => {
    await using folder = await temporaryFolder()
    const DATABASE_URL = await postgres.createDatabase()
    const name = new URL(DATABASE_URL).pathname.slice(1)
    await postgres.query(DATABASE_URL, `alter database ${name} set default_transaction_read_only = on`)
    const { code, stdout } = await run(['doctor'], { DATABASE_URL, DRAGOMAN_DATA: folder.path })
    expect(code).toBe(1)
    expect(stdout).toMatch(/^FAIL store: .*refuses writes/m)
  })
})

test('an address of another kind of database is refused, and not repeated', async () => {
  const { code, stderr } = await run(['search'], { DATABASE_URL: 'mysql://root:hush-hush@db/x' })
  expect(code).toBe(2)
  expect(stderr).toContain('DATABASE_URL: Give postgresql://')
  expect(stderr).not.toContain('hush-hush')
})

test('doctor reports an unreachable database in one line', async () => {
  await using folder = await temporaryFolder()
  const DATABASE_URL = 'postgresql://ada:hush-hush@127.0.0.1:1/registry'
  const { code, stdout, stderr } = await run(['doctor'], { DATABASE_URL, DRAGOMAN_DATA: folder.path })
  expect([code, stderr]).toEqual([1, ''])
  expect(stdout).toContain('FAIL store: PostgreSQL at 127.0.0.1:1/registry cannot be used')
  expect(stdout).not.toContain('hush-hush')
})
