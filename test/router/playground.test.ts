import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createPlayground } from '../../agents/playground/index.ts'
import { createSessions, type PlaygroundLimits } from '../../agents/playground/sessions.ts'
import type { Context } from '../../schemas/action.ts'
import { Failure } from '../../schemas/failure.ts'
import type { Step } from '../../schemas/playground.ts'
import { withSessions } from '../../src/router/sessions.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { temporaryFolder } from '../support/command.ts'
import { codeOf } from '../support/registry.ts'
import { anonymous, anything, principal, routerOver, sampleAction, sampleAgent } from '../support/router.ts'

const playground = 'svc.playground'

/** A playground beside a registry, an agent tagged test and one that is not, under a clock of the test's own. */
async function openPlayground(limits: Partial<PlaygroundLimits> = {}, poll_ms = 5) {
  const stack = new AsyncDisposableStack()
  const folder = stack.use(await temporaryFolder())
  let now = 1_800_000_000_000
  let made = 0
  const clock = () => now
  const contexts: Context[] = []
  const store = stack.use(await openSqliteStore(join(folder.path, 'registry.sqlite'), clock))
  const sessions = createSessions({
    store: store.sessions,
    clock,
    createId: () => `session-${++made}`,
    limits,
    poll_ms,
  })
  const witness = sampleAction('look', {
    access: { scope: 'a2a:call' },
    run: async (input, context) => {
      contexts.push(context)
      return input
    },
  })
  const refusal = sampleAction('refuse', {
    async run() {
      now += 7
      throw new Failure('upstream_failed', 'It is down.', { upstream: { status: 500 } })
    },
  })
  const flood = sampleAction('flood', { run: async () => ({ text: 'ä'.repeat(40_000) }) })
  const watch = sampleAction('watch', { part: anything, deadline_ms: 'none' })
  const found = { agents: [], total: 0, next_cursor: null }
  const router = routerOver([
    createPlayground({ sessions, clock, agents: () => [], base_url: () => 'http://127.0.0.1:1' }),
    sampleAgent('svc.registry', [sampleAction('search', { run: async () => found })]),
    sampleAgent('com.test.tagged', [witness, refusal, flood, watch], ['test']),
    sampleAgent('com.test.other', [witness]),
  ])
  const { dispatch } = withSessions(router, playground)
  const readSession = async (session: string, who: ReturnType<typeof principal> | null = null) =>
    (await call('get_session', { session }, who)).output as unknown as { steps: Step[]; more: boolean }
  const call = (
    action: string,
    params: object,
    who: ReturnType<typeof principal> | null = null,
    to = playground,
  ) => dispatch({ to, action, params: params as Record<string, unknown> }, anonymous({ principal: who }))
  return {
    call,
    readSession,
    dispatch,
    store: store.sessions,
    contexts,
    async session(): Promise<string> {
      const { output } = await call('create_session', {})
      return (output as { id: string }).id
    },
    execute: (session: string, agent = 'com.test.tagged', who: ReturnType<typeof principal> | null = null) =>
      call('execute', { session, agent, capability: 'look', input: { seen: true } }, who),
    wait(milliseconds: number) {
      now += milliseconds
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

describe('a session', () => {
  test('can be created by every caller, has an end time, and finds agents', async () => {
    await using home = await openPlayground()
    const { call } = home
    const { output } = await call('create_session', {})
    expect(output).toEqual({ id: 'session-1', expires_at: new Date(1_800_003_600_000).toISOString() })
    expect((await call('discover', { session: 'session-1', query: 'x' })).output).toMatchObject({ total: 0 })
  })

  test('calls as itself, with its own rights, having passed the playground, and counts its steps', async () => {
    await using home = await openPlayground()
    const { session, execute, contexts } = home
    const id = await session()
    expect((await execute(id)).output).toEqual({ output: { seen: true }, step: 1 })
    expect((await execute(id)).output).toMatchObject({ step: 2 })
    expect(contexts[0]).toMatchObject({
      via: ['svc.playground'],
      principal: { subject: `playground:${id}`, confined_to: 'test' },
    })
    expect([...(contexts[0]?.principal?.scopes ?? [])]).toEqual(['agents:read', 'a2a:call'])
  })

  test('reaches only agents tagged test', async () => {
    await using home = await openPlayground()
    const { session, execute } = home
    const id = await session()
    expect(await codeOf(execute(id, 'com.test.other'))).toBe('forbidden')
    expect(await codeOf(execute(id, 'custom.com.test.other'))).toBe('forbidden')
    expect(await codeOf(execute(id, 'com.nobody'))).toBe('not_found')
  })

  test('is named through the A2A address too', async () => {
    await using home = await openPlayground()
    const { session, call } = home
    const params = { session: await session(), agent: 'com.test.tagged', capability: 'look' }
    expect((await call('execute', params, null, `custom.${playground}`)).output).toMatchObject({ step: 1 })
  })

  test('gives its rights to no call that goes elsewhere', async () => {
    await using home = await openPlayground()
    const { session, call } = home
    const params = { session: await session() }
    expect(await codeOf(call('look', params, null, 'com.test.tagged'))).toBe('unauthenticated')
  })

  test('ends after an hour', async () => {
    await using home = await openPlayground()
    const { session, execute, call, wait } = home
    const id = await session()
    wait(3_599_999)
    expect(await codeOf(execute(id))).toBe('ok')
    wait(1)
    expect(await codeOf(execute(id))).toBe('not_found')
    expect(await codeOf(call('discover', { session: id, query: 'x' }))).toBe('not_found')
  })

  test('that never was is not_found, with a token too', async () => {
    await using home = await openPlayground()
    const { execute, call } = home
    const ada = principal('ada', ['playground', 'a2a:call'])
    for (const who of [null, ada]) {
      expect(await codeOf(execute('nobody', 'com.test.tagged', who))).toBe('not_found')
      expect(await codeOf(call('discover', { session: 'nobody', query: 'x' }, who))).toBe('not_found')
    }
  })

  test('cannot call itself round and round', async () => {
    await using home = await openPlayground()
    const { session, call } = home
    const id = await session()
    let params: Record<string, unknown> = { session: id, agent: 'com.test.tagged', capability: 'look' }
    for (let level = 0; level < 9; level++) {
      params = { session: id, agent: playground, capability: 'execute', input: params }
    }
    expect(await codeOf(call('execute', params))).toBe('loop_detected')
  })
})

describe('a token', () => {
  test('uses a session with its own rights, and needs the scope for it', async () => {
    await using home = await openPlayground()
    const { session, execute, call, contexts } = home
    const id = await session()
    const ada = principal('ada', ['playground', 'a2a:call'])
    expect((await execute(id, 'com.test.other', ada)).output).toMatchObject({ step: 1 })
    expect(contexts[0]?.principal).toBe(ada)
    const eve = principal('eve', ['a2a:call'])
    for (const work of [execute(id, 'com.test.tagged', eve), call('create_session', {}, eve)]) {
      await expect(work).rejects.toMatchObject({ code: 'forbidden', details: { scope: 'playground' } })
    }
  })
})

describe('the steps of a session', () => {
  test('are stored with input, output and time, whether they succeeded or not', async () => {
    await using home = await openPlayground()
    const id = await home.session()
    await home.call('discover', { session: id, query: 'x' })
    await home.execute(id)
    const refused = home.call('execute', { session: id, agent: 'com.test.tagged', capability: 'refuse' })
    await expect(refused).rejects.toMatchObject({
      code: 'upstream_failed',
      details: { upstream: { status: 500 } },
    })
    expect((await home.readSession(id)).steps).toMatchObject([
      {
        number: 1,
        kind: 'discover',
        by: 'anonymous',
        envelope: { to: 'svc.registry', action: 'search', params: { query: 'x', limit: 5 } },
        output: { agents: [], total: 0 },
      },
      {
        number: 2,
        kind: 'execute',
        started_at: new Date(1_800_000_000_000).toISOString(),
        duration_ms: 0,
        envelope: { to: 'com.test.tagged', action: 'look', params: { seen: true } },
        output: { seen: true },
      },
      {
        number: 3,
        duration_ms: 7,
        failure: { code: 'upstream_failed', detail: 'It is down.', status: 502, upstream: { status: 500 } },
      },
    ])
  })

  test('name the rights that they were made with', async () => {
    await using home = await openPlayground()
    const id = await home.session()
    const ada = principal('ada', ['playground', 'a2a:call'])
    await home.execute(id)
    await home.execute(id, 'com.test.other', ada)
    expect((await home.readSession(id)).steps.map(({ by }) => by)).toEqual(['anonymous', 'token'])
  })

  test('hold the beginning of a long text, in whole characters', async () => {
    await using home = await openPlayground()
    const session = await home.session()
    const { output } = await home.call('execute', { session, agent: 'com.test.tagged', capability: 'flood' })
    expect(output).toMatchObject({ output: { text: 'ä'.repeat(40_000) } })
    const [step] = (await home.readSession(session)).steps
    expect(step?.output).toBeUndefined()
    expect(step?.cut?.bytes).toBe(80_011)
    expect(step?.cut?.text).toBe(`{"text":"${'ä'.repeat(32_763)}`)
  })

  test('are limited for each session, and a refused one is not called', async () => {
    await using home = await openPlayground({ session: { steps: 2, characters: 10_000 } })
    const id = await home.session()
    const codes = [
      await codeOf(home.execute(id)),
      await codeOf(home.execute(id)),
      await codeOf(home.execute(id)),
    ]
    expect(codes).toEqual(['ok', 'ok', 'too_large'])
    expect(home.contexts).toHaveLength(2)
    expect((await home.readSession(id)).steps).toHaveLength(2)
  })

  test('are calls of 64 KiB at most', async () => {
    await using home = await openPlayground()
    const session = await home.session()
    const send = (text: string) =>
      home.call('execute', { session, agent: 'com.test.tagged', capability: 'look', input: { text } })
    expect(await codeOf(send('x'.repeat(65_000)))).toBe('ok')
    expect(await codeOf(send('x'.repeat(66_000)))).toBe('too_large')
    expect(await codeOf(send('\u{1f600}'.repeat(6_000)))).toBe('too_large')
    expect(home.contexts).toHaveLength(1)
  })

  test('are returned in pages, which say that there are more', async () => {
    await using home = await openPlayground()
    const session = await home.session()
    const agent = 'com.test.tagged'
    for (let count = 0; count < 30; count++)
      await home.call('execute', { session, agent, capability: 'flood' })
    const first = await home.readSession(session)
    expect(first.more).toBe(true)
    const rest = await home.call('get_session', { session, after: first.steps.at(-1)?.number })
    const { steps, more } = rest.output as unknown as { steps: Step[]; more: boolean }
    expect([...first.steps, ...steps].map(({ number }) => number)).toEqual(
      Array.from({ length: 30 }, (_, index) => index + 1),
    )
    expect(more).toBe(false)
  })
})

describe('a session made with a token', () => {
  const ada = principal('ada', ['playground', 'a2a:call'])
  const admin = principal('root', ['admin'])
  const actions = ['get_session', 'discover', 'execute', 'export_session', 'delete_session'] as const
  const rest = {
    discover: { query: 'x' },
    execute: { agent: 'com.test.tagged', capability: 'look' },
    export_session: { format: 'curl' },
    get_session: {},
    delete_session: {},
  }

  test.each(actions)('is not found by other callers: %s', async (action) => {
    await using home = await openPlayground()
    const { output } = await home.call('create_session', {}, ada)
    const { id } = output as { id: string }
    const outsiders = [
      null,
      principal('eve', ['playground', 'a2a:call']),
      admin,
      { ...ada, issuer: 'urn:other' },
    ]
    for (const who of outsiders) {
      expect(await codeOf(home.call(action, { session: id, ...rest[action] }, who))).toBe('not_found')
    }
    expect(home.contexts).toEqual([])
    expect(await codeOf(home.call(action, { session: id, ...rest[action] }, ada))).toBe('ok')
  })
})

describe('watching a session', () => {
  test('gives the steps that are there and those that come, until it is deleted', async () => {
    await using home = await openPlayground({}, 2 ** 31 - 1)
    const session = await home.session()
    await home.execute(session)
    const seen: unknown[] = []
    const [second, third] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const emit = async (update: object) => {
      seen.push('part' in update ? (update.part as Step).number : update)
      if (seen.length === 2) await home.execute(session)
      if (seen.length === 3) second.resolve()
      if (seen.length === 4) third.resolve()
    }
    const watching = home.dispatch(
      { to: playground, action: 'watch_session', params: { session } },
      anonymous({ emit }),
    )
    await second.promise
    await home.execute(session)
    await third.promise
    await home.call('delete_session', { session })
    expect((await watching).output).toEqual({ id: session, ended: 'deleted' })
    expect(seen).toEqual([{ progress: 1 }, 1, 2, 3])
  })

  test('ends with its hour, and begins after the step that the caller has', async () => {
    await using home = await openPlayground()
    const session = await home.session()
    for (let count = 0; count < 3; count++) await home.execute(session)
    const seen: unknown[] = []
    const emit = async (update: object) => {
      if (!('part' in update)) return
      seen.push((update.part as Step).number)
      if (seen.length === 1) home.wait(3_600_000)
    }
    const watching = home.dispatch(
      { to: playground, action: 'watch_session', params: { session, after: 2 } },
      anonymous({ emit }),
    )
    expect((await watching).output).toEqual({ id: session, ended: 'expired' })
    expect(seen).toEqual([3])
  })

  test('costs one step in memory for a watcher that does not read, and no other caller waits', async () => {
    await using home = await openPlayground({ watchers: 1 })
    const session = await home.session()
    for (let count = 0; count < 3; count++) await home.execute(session)
    const gone = new AbortController()
    const stuck = Promise.withResolvers<void>()
    let updates = 0
    const emit = async (update: object) => {
      updates += 1
      if (!('part' in update)) return
      stuck.resolve()
      await new Promise(() => {})
    }
    const envelope = { to: playground, action: 'watch_session', params: { session } }
    const watching = home.dispatch(envelope, anonymous({ emit, signal: gone.signal }))
    await stuck.promise
    expect(await codeOf(home.execute(session))).toBe('ok')
    expect(updates).toBe(2)
    expect(await codeOf(home.dispatch(envelope, anonymous({ emit: async () => {} })))).toBe('rate_limited')
    gone.abort()
    expect(await codeOf(watching)).toBe('cancelled')
  })

  test('is refused if it cannot be streamed', async () => {
    await using home = await openPlayground()
    const session = await home.session()
    expect(await codeOf(home.call('watch_session', { session }))).toBe('not_callable')
    const params = { session, agent: 'com.test.tagged', capability: 'watch' }
    expect(await codeOf(home.call('execute', params))).toBe('not_callable')
  })
})
