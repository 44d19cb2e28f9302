import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createPlayground } from '../../agents/playground/index.ts'
import { type Bounds, createSessionBook } from '../../agents/playground/sessions.ts'
import type { Context } from '../../schemas/action.ts'
import { withSessions } from '../../src/router/sessions.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { temporaryFolder } from '../support/command.ts'
import { codeOf } from '../support/registry.ts'
import { anonymous, principal, routerOver, sampleAction, sampleAgent } from '../support/router.ts'

const playground = 'svc.playground'

/** A playground beside a registry, an agent tagged test and one that is not, under a clock of the test's own. */
async function openPlayground(bounds: Partial<Bounds> = {}) {
  const stack = new AsyncDisposableStack()
  const folder = stack.use(await temporaryFolder())
  let now = 1_800_000_000_000
  let made = 0
  const clock = () => now
  const contexts: Context[] = []
  const store = stack.use(await openSqliteStore(join(folder.path, 'registry.sqlite'), clock))
  const sessions = createSessionBook({
    store: store.sessions,
    clock,
    createId: () => `session-${++made}`,
    bounds,
    look_ms: 5,
  })
  const witness = sampleAction('look', {
    access: { scope: 'a2a:call' },
    run: async (input, context) => {
      contexts.push(context)
      return input
    },
  })
  const found = { agents: [], total: 0, next_cursor: null }
  const router = routerOver([
    createPlayground({ sessions, clock, agents: () => [], base_url: () => 'http://127.0.0.1:1' }),
    sampleAgent('svc.registry', [sampleAction('search', { run: async () => found })]),
    sampleAgent('com.test.tagged', [witness], ['test']),
    sampleAgent('com.test.other', [witness]),
  ])
  const { dispatch } = withSessions(router, playground)
  const call = (
    action: string,
    params: object,
    who: ReturnType<typeof principal> | null = null,
    to = playground,
  ) => dispatch({ to, action, params: params as Record<string, unknown> }, anonymous({ principal: who }))
  return {
    call,
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
  test('is made by anybody, says when it ends, and finds agents', async () => {
    await using home = await openPlayground()
    const { call } = home
    const { output } = await call('create_session', {})
    expect(output).toEqual({ id: 'session-1', expires_at: new Date(1_800_003_600_000).toISOString() })
    expect((await call('discover', { session: 'session-1', query: 'x' })).output).toMatchObject({ total: 0 })
  })

  test('calls as itself, with its own rights, one hop on, and counts its steps', async () => {
    await using home = await openPlayground()
    const { session, execute, contexts } = home
    const id = await session()
    expect((await execute(id)).output).toEqual({ output: { seen: true }, step: 1 })
    expect((await execute(id)).output).toMatchObject({ step: 2 })
    expect(contexts[0]).toMatchObject({
      hops: 1,
      principal: { subject: `playground:${id}`, confined_to: 'test' },
    })
    expect([...(contexts[0]?.principal?.scopes ?? [])]).toEqual(['agents:read', 'a2a:call'])
  })

  test('reaches what is tagged test and nothing else', async () => {
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
