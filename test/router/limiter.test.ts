import { describe, expect, test } from 'vitest'
import { createRegistryAgent } from '../../agents/registry/index.ts'
import type { Allowance } from '../../schemas/failure.ts'
import type { Principal } from '../../schemas/scope.ts'
import type { Call } from '../../src/router/call.ts'
import { Limiter } from '../../src/router/limiter.ts'
import { anonymous, principal } from '../support/router.ts'

const registry = 'svc.registry'
const playground = 'custom.svc.playground'

/** A limiter over a clock of the test's own, and how many calls in a row it lets pass. */
function limiter() {
  let now = 1_000_000
  const limits = new Limiter(() => now)
  const { admit } = limits

  function ask(action: string, call: Partial<Call>, params: object = {}, agent: string = registry) {
    const envelope = { to: agent, action, params: params as Record<string, unknown> }
    return admit(envelope, anonymous(call))
  }
  function passed(...question: Parameters<typeof ask>): number {
    for (let count = 0; count < 10_000; count++) {
      try {
        ask(...question)
      } catch {
        return count
      }
    }
    return Number.POSITIVE_INFINITY
  }
  return {
    limits,
    ask,
    passed,
    wait(milliseconds: number) {
      now += milliseconds
    },
  }
}

const at = (address: string) => ({ address, via: [] })
const caller = { client: at('192.0.2.1') }

test.each([
  ['reads', 'search_agents', {}, registry, 600],
  ['searches', 'search', {}, registry, 120],
  ['searches by search_agents with a query', 'search_agents', { query: 'x' }, registry, 120],
  ['searches in the playground', 'discover', { query: 'x' }, playground, 120],
  ['executions', 'execute', {}, playground, 20],
  ['new playground sessions', 'create_session', {}, playground, 20],
  ['reads of playground sessions', 'get_session', {}, playground, 120],
  ['streams of playground sessions', 'watch_session', {}, playground, 120],
  ['exports', 'export_session', {}, playground, 120],
  ['look-ups in the catalog', 'get_server', {}, registry, 900],
  ['lists of the catalog', 'list_servers', {}, registry, 900],
  ['searches of the catalog', 'list_servers', { query: 'x' }, registry, 120],
  ['ends of playground sessions', 'delete_session', {}, playground, 600],
  ['writes', 'publish', {}, registry, 6],
  ['new API keys', 'create_key', {}, registry, 20],
  ['looks at cards', 'validate', { card: {} }, registry, 120],
  ['fetches of cards', 'validate', { manifest_url: 'x' }, registry, 6],
  ['publications by nothing but a card', 'publish', { manifest_url: 'x' }, registry, 6],
  ['publications that a card describes', 'publish', { manifest_url: 'x', name: 'y' }, registry, 6],
  [
    'publications with a card to be read later',
    'publish',
    { manifest_url: 'x', name: 'y', description: 'z' },
    registry,
    6,
  ],
  ['searches for a proof', 'verify', {}, registry, 6],
  ['claims', 'claim', {}, registry, 6],
  ['looks at agents', 'check', {}, registry, 6],
  ['new webhooks', 'create_webhook', { url: 'x' }, registry, 6],
  ['changes of webhooks', 'update_webhook', { enabled: true }, registry, 6],
  ['calls to agents that are not there', 'search', {}, 'com.example.nobody', 600],
] as const)(
  '%s of an anonymous caller are counted, and ten times as many with a token',
  (_, action, params, agent, limit) => {
    expect(limiter().passed(action, caller, params, agent)).toBe(limit)
    const signedIn = { ...caller, principal: principal('ada') }
    expect(limiter().passed(action, signedIn, params, agent)).toBe(limit * 10)
  },
)

test('every action of the registry that writes is limited as more than a read', () => {
  const { actions } = createRegistryAgent({ registry: {} } as never)
  const writes = actions.filter(({ effect }) => effect === 'write').map(({ name }) => name)
  const { ask } = limiter()
  const signedIn = { ...caller, principal: principal('ada') }
  const policies = Object.groupBy(writes, (name) => (ask(name, signedIn) as Allowance).policy)
  // Only admins import, in large lots.
  expect(policies.read).toEqual(['import_entries'])
  expect(policies.write).toContain('delete')
  expect(Object.keys(policies).sort()).toEqual(['erase', 'execute', 'probe', 'read', 'write'])
})

test('personal data is exported as often as searched, and deleted ten times a minute', () => {
  const { passed } = limiter()
  const ada = { ...caller, principal: principal('ada') }
  expect(passed('get_personal_data', ada)).toBe(1200)
  expect(passed('delete_personal_data', ada)).toBe(10)
})

test('an admin may write as often as read', () => {
  const admin = { ...caller, principal: principal('root', ['admin']) }
  expect(limiter().passed('publish', admin)).toBe(6000)
})

test('each class has its own bucket', () => {
  const { passed } = limiter()
  expect(passed('search', caller)).toBe(120)
  expect(passed('get_agent', caller)).toBe(600)
})

test('each address has its own buckets; a token has the same buckets at every address', () => {
  const { passed } = limiter()
  expect(passed('search', caller)).toBe(120)
  expect(passed('search', { client: at('192.0.2.2') })).toBe(120)
  const ada = (address: string) => ({ client: at(address), principal: principal('ada') })
  expect(passed('search', ada('192.0.2.1'))).toBe(1200)
  expect(passed('search', ada('192.0.2.9'))).toBe(0)
  expect(passed('search', { client: at('192.0.2.1'), principal: principal('eve') })).toBe(1200)
})

test('a session shares the limit of its address', () => {
  const { passed } = limiter()
  const session: Principal = { ...principal('playground:1'), confined_to: 'test' }
  expect(passed('execute', { ...caller, principal: session }, {}, playground)).toBe(20)
  const another: Principal = { ...principal('playground:2'), confined_to: 'test' }
  expect(passed('execute', { ...caller, principal: another }, {}, playground)).toBe(0)
})

test('a bucket fills evenly and never over', () => {
  const { ask, passed, wait } = limiter()
  expect(passed('search', caller)).toBe(120)
  wait(499)
  expect(() => ask('search', caller)).toThrow()
  wait(1)
  expect(passed('search', caller)).toBe(1)
  wait(30_000)
  expect(passed('search', caller)).toBe(60)
  wait(3_600_000)
  expect(passed('search', caller)).toBe(120)
})

test('a clock that is set back takes no allowance away', () => {
  const { ask, passed, wait } = limiter()
  ask('search', caller)
  wait(-3_600_000)
  expect(passed('search', caller)).toBe(119)
  wait(-3_600_000)
  expect(passed('search', caller)).toBe(0)
  wait(30_000)
  expect(passed('search', caller)).toBe(60)
})

test('the refusal has a retry time, and the allowance the remaining calls', () => {
  const { ask, passed } = limiter()
  expect(ask('search', caller)).toEqual({ policy: 'search', limit: 120, remaining: 119, reset_s: 1 })
  passed('search', caller)
  expect(() => ask('search', caller)).toThrowError(
    expect.objectContaining({
      code: 'rate_limited',
      details: { hint: 'Ask again in 1 s.', retry_after_s: 1 },
    }),
  )
  passed('execute', caller, {}, playground)
  expect(() => ask('execute', caller, {}, playground)).toThrowError(
    expect.objectContaining({ details: { hint: 'Ask again in 3 s.', retry_after_s: 3 } }),
  )
})

test('a local process is not counted, a caller that names passed agents is', () => {
  const { ask, passed } = limiter()
  expect(passed('search', {})).toBe(Number.POSITIVE_INFINITY)
  expect(ask('search', {})).toBeUndefined()
  const passing = { client: { address: '192.0.2.1', via: ['com.example.agent'] } }
  expect(passed('search', passing)).toBe(120)
})

describe('the cost of requests', () => {
  const anybody = { ...caller, principal: null }

  test('beyond 6,000 units a minute refuses the caller until the debt is filled again', () => {
    const { limits, wait } = limiter()
    limits.charge(anybody, 5999)
    expect(limits.overCost(anybody)).toBeUndefined()
    limits.charge(anybody, 1001)
    expect(limits.overCost(anybody)).toMatchObject({ code: 'rate_limited', details: { retry_after_s: 10 } })
    wait(10_000)
    expect(limits.overCost(anybody)).toMatchObject({
      details: { hint: expect.stringContaining('Ask again in 1 s'), retry_after_s: 1 },
    })
    wait(1)
    expect(limits.overCost(anybody)).toBeUndefined()
  })

  test('counts for each caller, ten times as much with a token, and not for a local process', () => {
    const { limits } = limiter()
    const ada = { ...caller, principal: principal('ada') }
    for (const who of [anybody, ada]) limits.charge(who, 6001)
    expect(limits.overCost(anybody)).toBeDefined()
    expect(limits.overCost(ada)).toBeUndefined()
    expect(limits.overCost({ ...anybody, client: at('192.0.2.2') })).toBeUndefined()
    limits.charge(ada, 54_000)
    expect(limits.overCost(ada)).toBeDefined()
    const local = { principal: null, client: 'local' } as const
    limits.charge(local, 1_000_000)
    expect(limits.overCost(local)).toBeUndefined()
  })

  test('a debt is at most one minute long', () => {
    const { limits } = limiter()
    limits.charge(anybody, 10_000_000)
    expect(limits.overCost(anybody)).toMatchObject({ details: { retry_after_s: 60 } })
  })

  test('includes what a write has stored, so that an owner of large agents writes less than 60 a minute', () => {
    const { limits, ask } = limiter()
    const ada = anonymous({ ...caller, principal: principal('ada') })
    const entry = { description: 'x'.repeat(256 * 1024) }
    let writes = 0
    for (; !limits.overCost(ada); writes++) {
      ask('update', ada)
      limits.chargeWrite(entry, ada)
    }
    expect(writes).toBe(56)
    const admin = { ...ada, principal: principal('root', ['admin']) }
    for (let count = 0; count < 100; count++) limits.chargeWrite(entry, admin)
    expect(limits.overCost(admin)).toBeUndefined()
  })

  test('includes the time of checks of params, whose length a publisher decides', () => {
    const { limits } = limiter()
    for (let call = 0; call < 100; call++) limits.chargeCheck(0.9, anonymous(caller))
    expect(limits.overCost(anybody)).toBeUndefined()
    for (let call = 0; call < 50; call++) limits.chargeCheck(12.5, anonymous(caller))
    expect(limits.overCost(anybody)).toBeDefined()
  })

  test('includes what the class of a call costs', () => {
    const { limits, ask } = limiter()
    limits.charge(anybody, 5990)
    ask('search', caller)
    expect(limits.overCost(anybody)).toBeDefined()
  })
})

test('an address may send 60 invalid tokens a minute, and any number of valid ones', () => {
  const { limits } = limiter()
  const client = at('192.0.2.1')
  for (let count = 0; count < 200; count++) limits.countToken(client)()
  for (let count = 0; count < 60; count++) limits.countToken(client)
  expect(() => limits.countToken(client)).toThrowError(expect.objectContaining({ code: 'rate_limited' }))
  expect(() => limits.countToken(at('192.0.2.2'))).not.toThrow()
})
