import { describe, expect, test } from 'vitest'
import { type QuotaName, type QuotaNumbers, standardQuotas } from '../../schemas/quota.ts'
import type { Principal } from '../../schemas/scope.ts'
import { principalKey } from '../../src/common/principal-key.ts'
import { failureOf } from '../support/agent.ts'
import {
  admin,
  codeOf,
  openRegistry,
  person,
  publication,
  signal,
  type TestRegistry,
} from '../support/registry.ts'

const ada = person('ada')
const bob = person('bob')
const limits = (changed: Partial<QuotaNumbers>): QuotaNumbers => ({ ...standardQuotas, ...changed })
const publish = (registry: TestRegistry, name: string, owner: Principal = ada, more: object = {}) =>
  registry.publish(publication(`com.quota.${name}`, more), owner, signal)
const agent = (name: string) => ({ agent: `com.quota.${name}` })
const used = async ({ store }: TestRegistry, who: Principal = ada) =>
  (await store.usage.get([principalKey(who)])).get(principalKey(who))?.used

describe('the quota of entries', () => {
  test('takes as many as it says, and one beyond is refused and did not happen', async () => {
    await using registry = await openRegistry({ quotas: limits({ entries: 2 }) })
    await publish(registry, 'a')
    await registry.goLive(agent('a'), ada)
    await publish(registry, 'b')
    const revision = await registry.store.read.revision()
    const failure = await failureOf(publish(registry, 'c'))
    expect(failure).toMatchObject({
      code: 'quota_exceeded',
      details: { quota: { quota: 'entries', used: 2, limit: 2, left: 0 } },
    })
    expect(failure.message).toBe('The quota entries is 2: 2 are used, 0 are left, and this needs 1.')
    expect(failure.details.hint).toContain('Delete agents')
    expect(await registry.store.read.revision()).toBe(revision)
    expect(await codeOf(registry.get('com.quota.c', ada))).toBe('not_found')
    expect((await registry.find({ filters: { mine: true } }, ada)).total).toBe(2)
    expect(await codeOf(registry.update(agent('a'), { description: 'Changed.' }, ada))).toBe('ok')
    expect(await codeOf(publish(registry, 'c', bob))).toBe('ok')
  })

  test('has room again after a deletion', async () => {
    await using registry = await openRegistry({ quotas: limits({ entries: 1 }) })
    await publish(registry, 'a')
    expect(await codeOf(publish(registry, 'b'))).toBe('quota_exceeded')
    await registry.remove(agent('a'), ada)
    await publish(registry, 'b')
    expect(await codeOf(publish(registry, 'a'))).toBe('quota_exceeded')
  })

  test('is exact when one owner publishes concurrently', async () => {
    await using registry = await openRegistry({ quotas: limits({ entries: 10 }) })
    const names = Array.from({ length: 40 }, (_, at) => `n${at}`)
    const codes = await Promise.all(names.map((name) => codeOf(publish(registry, name))))
    expect(Map.groupBy(codes, (code) => code).get('ok')).toHaveLength(10)
    expect(Map.groupBy(codes, (code) => code).get('quota_exceeded')).toHaveLength(30)
    expect((await registry.find({ filters: { mine: true } }, ada)).total).toBe(10)
  })

  test('of a claimed namespace is one for all its subjects, apart from their own', async () => {
    await using registry = await openRegistry({ quotas: limits({ entries: 2 }) })
    const member = (subject: string) => person(subject, ['com.quota'])
    await publish(registry, 'a', member('one'))
    await publish(registry, 'b', member('two'))
    expect(await codeOf(publish(registry, 'c', member('three')))).toBe('quota_exceeded')
    const elsewhere = publication('org.elsewhere.agent')
    expect(await codeOf(registry.publish(elsewhere, member('one'), signal))).toBe('ok')
  })

  test('does not limit admins and imports', async () => {
    await using registry = await openRegistry({ quotas: limits({ entries: 0 }) })
    expect(await codeOf(publish(registry, 'a', admin))).toBe('ok')
    const card = { name: 'Card', description: 'A card.', url: 'https://card.example/a2a' }
    expect(await registry.importLines([JSON.stringify(card)], 1)).toMatchObject({ created: 1 })
    expect(await codeOf(publish(registry, 'b'))).toBe('quota_exceeded')
  })
})

describe('a transfer', () => {
  const toBob = { subject: 'bob', issuer: 'urn:test' }

  test('moves what is used to the new owner who accepts it', async () => {
    await using registry = await openRegistry({ quotas: limits({ entries: 1 }) })
    await publish(registry, 'a')
    await registry.transfer({ ...agent('a'), ...toBob }, ada)
    expect(await used(registry)).toMatchObject({ entries: 1 })
    await registry.acceptTransfer(agent('a'), bob)
    expect(await used(registry)).toMatchObject({ entries: 0, stage_entries: 0, bytes: 0 })
    expect(await used(registry, bob)).toMatchObject({ entries: 1, stage_entries: 1 })
    await publish(registry, 'b')
  })

  test('needs room at the new owner', async () => {
    await using registry = await openRegistry({ quotas: limits({ entries: 1 }) })
    await publish(registry, 'a')
    await publish(registry, 'b', bob)
    await registry.transfer({ ...agent('a'), ...toBob }, ada)
    expect(await codeOf(registry.acceptTransfer(agent('a'), bob))).toBe('quota_exceeded')
    expect((await registry.get('com.quota.a', ada)).owner).toMatchObject({ subject: 'ada' })
    await registry.remove(agent('b'), bob)
    expect(await codeOf(registry.acceptTransfer(agent('a'), bob))).toBe('ok')
  })
})

test('a caller with a namespace claim does not see the numbers of another owner', async () => {
  await using registry = await openRegistry({ quotas: limits({ bytes: 1500 }) })
  await publish(registry, 'a')
  const change = registry.update(agent('a'), { description: 'x'.repeat(1500) }, person('eve', ['com.quota']))
  const failure = await failureOf(change)
  expect(failure).toMatchObject({
    code: 'quota_exceeded',
    message: 'The owner of the agent has no room left in the quota bytes.',
  })
  expect(failure.details.quota).toBeUndefined()
})

describe('every other quota', () => {
  test('of agents in STAGE ends with their going live', async () => {
    await using registry = await openRegistry({ quotas: limits({ stage_entries: 1 }) })
    await publish(registry, 'a')
    expect(await codeOf(publish(registry, 'b'))).toBe('quota_exceeded')
    await registry.goLive(agent('a'), ada)
    await publish(registry, 'b')
    const failure = await failureOf(publish(registry, 'c'))
    expect(failure.details.quota).toEqual({ quota: 'stage_entries', used: 1, limit: 1, left: 0 })
  })

  test('of agents in STAGE keeps no agent public', async () => {
    await using registry = await openRegistry({ quotas: limits({ stage_entries: 1 }) })
    await publish(registry, 'a')
    await registry.goLive(agent('a'), ada)
    await publish(registry, 'b')
    expect(await codeOf(registry.unpublish(agent('a'), ada))).toBe('ok')
    expect(await used(registry)).toMatchObject({ stage_entries: 2 })
    expect(await codeOf(publish(registry, 'c'))).toBe('quota_exceeded')
  })

  test('of bytes is that of the stored agents, and shrinking is allowed above it', async () => {
    await using registry = await openRegistry({ quotas: limits({ bytes: 5000 }) })
    const description = (characters: number) => ({ description: 'x'.repeat(characters) })
    await publish(registry, 'a', ada, description(1000))
    const { bytes = 0 } = (await used(registry)) ?? {}
    expect(bytes).toBeGreaterThan(1000)
    const room = 5000 - bytes
    expect(await codeOf(registry.update(agent('a'), description(1000 + room + 100), ada))).toBe(
      'quota_exceeded',
    )
    expect((await used(registry))?.bytes).toBe(bytes)
    expect(await codeOf(registry.update(agent('a'), description(1000 + room - 100), ada))).toBe('ok')
    await registry.store.usage.setLimit(principalKey(ada), 'bytes', 1)
    expect(await codeOf(registry.update(agent('a'), description(500), ada))).toBe('ok')
    expect(await codeOf(registry.update(agent('a'), description(501), ada))).toBe('quota_exceeded')
  })

  test('of versions a day counts what is published, and says when it begins again', async () => {
    await using registry = await openRegistry({ quotas: limits({ versions_per_day: 2 }) })
    await publish(registry, 'a')
    const change = (text: string) => registry.update(agent('a'), { description: text }, ada)
    await change('In STAGE, a change is no version.')
    await registry.goLive(agent('a'), ada)
    await change('Second.')
    const failure = await failureOf(change('Third.'))
    expect(failure.details).toMatchObject({
      hint: expect.stringContaining('00:00 UTC'),
      quota: { quota: 'versions_per_day', used: 2, limit: 2, left: 0 },
    })
    expect((await registry.get('com.quota.a', null)).description).toBe('Second.')
    expect(await codeOf(registry.deprecate({ ...agent('a'), deprecated: true }, ada))).toBe('ok')
    expect(await codeOf(registry.unpublish(agent('a'), ada))).toBe('ok')
    await registry.store.usage.setLimit(principalKey(ada), 'versions_per_day', 0)
    await publish(registry, 'b')
    const { details } = await failureOf(registry.goLive(agent('b'), ada))
    expect(details.hint).toMatch(/^The operator of this registry allows none\. /)
  })
})

test.each<QuotaName>(['entries', 'stage_entries', 'bytes'])(
  'a limit that an admin sets for %s replaces the standard one, in both directions',
  async (quota) => {
    await using registry = await openRegistry({ quotas: limits({ [quota]: 0 }) })
    const { setLimit } = registry.store.usage
    expect(await codeOf(publish(registry, 'a'))).toBe('quota_exceeded')
    await setLimit(principalKey(ada), quota, 100_000)
    expect(await codeOf(publish(registry, 'a'))).toBe('ok')
    await setLimit(principalKey(ada), quota, 0)
    expect(await codeOf(publish(registry, 'b'))).toBe('quota_exceeded')
    await setLimit(principalKey(ada), quota, null)
    expect(await codeOf(publish(registry, 'b'))).toBe('quota_exceeded')
  },
)
