import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Failure } from '../../schemas/failure.ts'
import { isRecord } from '../../schemas/json.ts'
import { input, output } from '../../schemas/shape.ts'
import { withSessions } from '../../src/router/sessions.ts'
import {
  anonymous,
  hangingAction,
  principal,
  routerOver,
  sampleAction,
  sampleAgent,
} from '../support/router.ts'

const echo = sampleAction('echo', { aliases: ['repeat'] })
const to = 'com.test.agent'

describe('finding the action', () => {
  const router = routerOver([sampleAgent(to, [echo, sampleAction('forget'), sampleAction('mcp_listen')])])

  test.each([to, `custom.${to}`])('%s is the agent', async (name) => {
    const reply = await router.dispatch({ to: name, action: 'echo', params: { a: 1 } }, anonymous())
    expect(reply.output).toEqual({ a: 1 })
    expect(reply.action.name).toBe('echo')
  })

  test('an alias names it too', async () => {
    const reply = await router.dispatch({ to, action: 'repeat' }, anonymous())
    expect(reply.action).toBe(echo)
    expect(reply.output).toEqual({})
  })

  test('an unknown agent is not_found', async () => {
    await expect(router.dispatch({ to: 'com.nobody', action: 'echo' }, anonymous())).rejects.toMatchObject({
      code: 'not_found',
    })
  })

  test('an unknown action is named with those that are near, and all that there are', async () => {
    await expect(router.dispatch({ to, action: 'ecko' }, anonymous())).rejects.toMatchObject({
      code: 'unknown_action',
      details: { nearest: ['echo'], hint: 'It has: echo, forget.' },
    })
    const near = await router.dispatch({ to, action: 'mcp_liste' }, anonymous()).catch((thrown) => thrown)
    expect(near.details).toEqual({ hint: 'It has: echo, forget.' })
  })

  test('a failure of resolve reaches the caller unchanged', async () => {
    const failure = new Failure('not_callable', 'Elsewhere.', { manifest_url: 'https://example.com' })
    const elsewhere = routerOver([], {
      resolve: async () => {
        throw failure
      },
    })
    await expect(elsewhere.dispatch({ to, action: 'echo' }, anonymous())).rejects.toBe(failure)
  })

  test.each([
    ['null', null],
    ['a list', []],
    ['text', 'echo'],
    ['nothing', undefined],
    ['a number for a name', { to: 5, action: 'echo' }],
    ['a name that cannot become text', { to: { toString: 1, valueOf: 1 }, action: { toString: 1 } }],
    ['an empty name', { to: '', action: 'echo' }],
    ['a name without end', { to: 'x'.repeat(221), action: 'echo' }],
    ['params that are a list', { to, action: 'echo', params: [] }],
    ['params that are null', { to, action: 'echo', params: null }],
    ['a field too many', { to, action: 'echo', from: 'me' }],
    ['a __proto__ key', JSON.parse('{"to":"x","action":"y","params":{"__proto__":{}}}')],
  ])('an envelope that is %s is invalid_request, and seen once', async (_, envelope) => {
    for (const candidate of [router, { ...withSessions(router, to), observations: router.observations }]) {
      candidate.observations.length = 0
      await expect(candidate.dispatch(envelope, anonymous())).rejects.toMatchObject({
        code: 'invalid_request',
      })
      expect(candidate.observations).toHaveLength(1)
      expect(String(candidate.observations[0]?.to).length).toBeLessThan(250)
    }
  })
})

describe('the input and the output', () => {
  const strict = sampleAction('count', {
    input: input(z.strictObject({ from: z.int().default(1), to: z.int() })) as never,
    output: output(z.object({ sum: z.int() })) as never,
    run: async (value) => {
      const { from, to: end } = value as { from: number; to: number }
      return { sum: end === 0 ? 'secret' : from + end }
    },
  })
  const agents = [sampleAgent(to, [strict])]

  test('the action gets the params as its schema parsed them', async () => {
    const { output } = await routerOver(agents).dispatch(
      { to, action: 'count', params: { to: 3 } },
      anonymous(),
    )
    expect(output).toEqual({ sum: 4 })
  })

  test('params that the schema refuses never reach the action', async () => {
    const call = routerOver(agents).dispatch(
      { to, action: 'count', params: { to: 'three', form: 1 } },
      anonymous(),
    )
    await expect(call).rejects.toMatchObject({
      code: 'invalid_request',
      details: { errors: [{ pointer: '/to' }, { pointer: '/form' }], nearest: ['from'] },
    })
  })

  test('a field that is like no other is refused with the names of those that there are', async () => {
    const call = (params: object) =>
      routerOver(agents).dispatch({ to, action: 'count', params: params as never }, anonymous())
    await expect(call({ to: 3, bound: 1 })).rejects.toMatchObject({
      code: 'invalid_request',
      details: { errors: [{ pointer: '/bound' }], hint: 'It takes from, to.' },
    })
  })

  test('an output that breaks its own schema is our fault, where outputs are checked', async () => {
    const envelope = { to, action: 'count', params: { to: 0 } }
    const call = routerOver(agents).dispatch(envelope, anonymous())
    await expect(call).rejects.toMatchObject({ code: 'internal', details: {} })
    const unchecked = routerOver(agents, { check_outputs: false })
    expect((await unchecked.dispatch(envelope, anonymous())).output).toEqual({ sum: 'secret' })
  })

  test('a read answers with the revision it was made at, a write without', async () => {
    const router = routerOver([sampleAgent(to, [echo, sampleAction('change', { effect: 'write' })])])
    expect((await router.dispatch({ to, action: 'echo' }, anonymous())).revision).toBe(7)
    expect(await router.dispatch({ to, action: 'change' }, anonymous())).not.toHaveProperty('revision')
  })
})

describe('who may', () => {
  const actions = [
    sampleAction('open'),
    sampleAction('any', { access: 'bearer' }),
    sampleAction('write', { access: { scope: 'agents:write' } }),
  ]
  const router = routerOver([sampleAgent(to, actions), sampleAgent('com.test.tagged', actions, ['test'])])
  const ask = (action: string, who: ReturnType<typeof principal> | null, agent = to) =>
    router.dispatch({ to: agent, action }, anonymous({ principal: who })).then(
      () => 'ok',
      (failure: Failure) => [failure.code, failure.details.scope].filter(Boolean).join(' '),
    )

  test('a public action needs no token, bearer any token, a scope that scope; admin has them all', async () => {
    expect(await ask('open', null)).toBe('ok')
    expect(await ask('any', null)).toBe('unauthenticated')
    expect(await ask('any', principal('x'))).toBe('ok')
    expect(await ask('write', null)).toBe('unauthenticated agents:write')
    expect(await ask('write', principal('x', ['agents:read']))).toBe('forbidden agents:write')
    expect(await ask('write', principal('x', ['agents:write']))).toBe('ok')
    expect(await ask('write', principal('x', ['admin']))).toBe('ok')
  })

  test('a confined principal reaches tagged agents and public actions', async () => {
    const confined = { ...principal('x', ['agents:write']), confined_to: 'test' }
    expect(await ask('write', confined, 'com.test.tagged')).toBe('ok')
    expect(await ask('open', confined)).toBe('ok')
    expect(await ask('any', confined)).toBe('forbidden')
  })
})

describe('time and going away', () => {
  test('an action that takes longer than its deadline is deadline_exceeded, and so is its signal', async () => {
    const { action, started } = hangingAction('hang', { deadline_ms: 20 })
    const router = routerOver([sampleAgent(to, [action])], { clock: () => 1000 })
    const call = router.dispatch({ to, action: 'hang' }, anonymous())
    await expect(call).rejects.toMatchObject({ code: 'deadline_exceeded' })
    const context = await started
    expect(context.signal.reason).toMatchObject({ code: 'deadline_exceeded' })
    expect(context.deadline).toBe(1020)
  })

  test("the caller's going away reaches the action's signal", async () => {
    const { action, started } = hangingAction('hang', { deadline_ms: 'none' })
    const caller = new AbortController()
    const call = routerOver([sampleAgent(to, [action])]).dispatch(
      { to, action: 'hang' },
      anonymous({ signal: caller.signal }),
    )
    const context = await started
    expect(context.deadline).toBe(Number.POSITIVE_INFINITY)
    expect(context.signal.aborted).toBe(false)
    caller.abort()
    await expect(call).rejects.toMatchObject({ code: 'cancelled' })
    expect(context.signal.aborted).toBe(true)
  })

  test('nothing runs for a caller that has already disconnected', async () => {
    let ran = false
    const action = sampleAction('write', {
      run: async () => {
        ran = true
        return {}
      },
    })
    const call = routerOver([sampleAgent(to, [action])]).dispatch(
      { to, action: 'write' },
      anonymous({ signal: AbortSignal.abort() }),
    )
    await expect(call).rejects.toMatchObject({ code: 'cancelled' })
    expect(ran).toBe(false)
  })

  test('an action that fails after its deadline has no effect', async () => {
    const late = Promise.withResolvers<never>()
    const action = sampleAction('late', { deadline_ms: 5, run: () => late.promise })
    const call = routerOver([sampleAgent(to, [action])]).dispatch({ to, action: 'late' }, anonymous())
    await expect(call).rejects.toMatchObject({ code: 'deadline_exceeded' })
    late.reject(new Error('too late'))
    await new Promise((resolve) => setImmediate(resolve))
  })
})

describe('failures', () => {
  test.each([
    [
      'throws',
      () => {
        throw new Error('SECRET')
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('SECRET')
      },
    ],
    [
      'throws text',
      () => {
        throw 'SECRET'
      },
    ],
  ])('an unexpected error (%s) is internal: its text is not sent, its cause is kept', async (_, run) => {
    const router = routerOver([sampleAgent(to, [sampleAction('break', { run })])])
    const failure = await router.dispatch({ to, action: 'break' }, anonymous()).catch((thrown) => thrown)
    expect(failure).toBeInstanceOf(Failure)
    expect(failure.code).toBe('internal')
    expect(`${failure.message}${JSON.stringify(failure.details)}`).not.toContain('SECRET')
    expect(String(failure.cause)).toContain('SECRET')
    expect(router.observations[0]?.failure).toBe(failure)
  })

  test('each call is observed once, with who and how it ended', async () => {
    const router = routerOver([sampleAgent(to, [echo])])
    const who = principal('ada')
    await router.dispatch({ to, action: 'echo' }, anonymous({ principal: who, id: 'mine' }))
    await router.dispatch({ to, action: 'nothing' }, anonymous()).catch(() => {})
    expect(router.observations).toMatchObject([
      { id: 'mine', to, action: 'echo', principal: who },
      { id: 'made-id', to, action: 'nothing', failure: { code: 'unknown_action' } },
    ])
    expect(router.observations[0]).not.toHaveProperty('failure')
  })
})

describe('an action that calls another', () => {
  const around = sampleAction('around', {
    deadline_ms: 5000,
    run: (_, { call }) => call({ to: 'com.test.inner', action: 'look', params: { seen: true } }),
  })

  test('does so as the same principal, in the same call, having passed the first, under its own signal and deadline', async () => {
    const { action, started } = hangingAction('look', { deadline_ms: 60_000 })
    const agents = [sampleAgent(to, [around]), sampleAgent('com.test.inner', [action])]
    const router = routerOver(agents, { clock: () => 0 })
    const caller = new AbortController()
    const who = principal('ada')
    const emitted: unknown[] = []
    const call = router.dispatch(
      { to, action: 'around' },
      anonymous({
        principal: who,
        signal: caller.signal,
        id: 'outer',
        emit: async (update) => void emitted.push(update),
      }),
    )
    const inner = await started
    expect(inner).toMatchObject({ id: 'outer', principal: who, via: [to], deadline: 5000 })
    await inner.emit({ progress: 1 })
    expect(emitted).toEqual([])
    caller.abort()
    await expect(call).rejects.toMatchObject({ code: 'cancelled' })
    expect(inner.signal.reason).toMatchObject({ code: 'cancelled' })
    expect(router.observations).toHaveLength(2)
  })

  test('is answered with the output, and with the unchanged failure of the other agent', async () => {
    const agents = [sampleAgent(to, [around]), sampleAgent('com.test.inner', [sampleAction('look')])]
    expect((await routerOver(agents).dispatch({ to, action: 'around' }, anonymous())).output).toEqual({
      seen: true,
    })
    const alone = routerOver([sampleAgent(to, [around])])
    await expect(alone.dispatch({ to, action: 'around' }, anonymous())).rejects.toMatchObject({
      code: 'not_found',
    })
  })

  test('without end is loop_detected', async () => {
    let calls = 0
    const again = sampleAction('again', {
      run: (_, { call }) => {
        calls += 1
        return call({ to, action: 'again' })
      },
    })
    const router = routerOver([sampleAgent(to, [again])])
    await expect(router.dispatch({ to, action: 'again' }, anonymous())).rejects.toMatchObject({
      code: 'loop_detected',
    })
    expect(calls).toBe(9)
  })
})

describe('who wants to know that a call is let in', () => {
  const seen: string[] = []
  const action = sampleAction('look', {
    access: 'bearer',
    input: { json: {}, parse: (value) => value },
    run: async (input, { call }) => {
      seen.push('run')
      if ((input as { again?: boolean }).again) await call({ to, action: 'look' })
      return 1
    },
  })
  const router = routerOver([sampleAgent(to, [action])])
  const accepted = async () => void seen.push('accepted')

  test('is called once, before the action runs, and not for nested calls', async () => {
    seen.length = 0
    const call = anonymous({ principal: principal('ada'), accepted })
    await router.dispatch({ to, action: 'look', params: { again: true } }, call)
    expect(seen).toEqual(['accepted', 'run', 'run'])
  })

  test('is not called for a refused call, and may refuse it too', async () => {
    seen.length = 0
    await expect(router.dispatch({ to, action: 'look' }, anonymous({ accepted }))).rejects.toMatchObject({
      code: 'unauthenticated',
    })
    const refusing = async () => {
      throw new Failure('rate_limited', 'No.')
    }
    const call = anonymous({ principal: principal('ada'), accepted: refusing })
    await expect(router.dispatch({ to, action: 'look' }, call)).rejects.toMatchObject({
      code: 'rate_limited',
    })
    expect(seen).toEqual([])
  })
})

test('the check of params by the schema of a listed agent is charged to its caller, also where it refuses', async () => {
  const charged: number[] = []
  const parse = (value: unknown) => {
    const end = performance.now() + 3
    while (performance.now() < end);
    if (isRecord(value) && value.bad === true) throw new Failure('invalid_request', 'Bad.')
    return value
  }
  const slow = sampleAction('look', { input: { json: {}, parse } })
  const agents = [
    { ...sampleAgent('com.example.slow', [slow]), third_party: true as const },
    sampleAgent('svc.own', [slow]),
  ]
  const { dispatch } = routerOver(agents, { chargeCheck: (ms) => void charged.push(ms) })
  await dispatch({ to: 'com.example.slow', action: slow.name, params: {} }, anonymous())
  await dispatch({ to: 'com.example.slow', action: slow.name, params: { bad: true } }, anonymous()).catch(
    () => {},
  )
  await dispatch({ to: 'svc.own', action: slow.name, params: {} }, anonymous())
  expect(charged.map((ms) => ms >= 3)).toEqual([true, true])
})
