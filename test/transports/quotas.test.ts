import { afterAll, describe, expect, test } from 'vitest'
import { localIssuer } from '../../schemas/identity.ts'
import { temporaryFolder } from '../support/command.ts'
import { startGateway } from '../support/gateway.ts'
import { restTransport } from '../support/rest-transport.ts'
import { openTransports, writable } from '../support/transports.ts'
import { publication } from './cases.ts'

const settings = { DRAGOMAN_QUOTAS: 'entries=2, stage_entries=2' }

const home = await startGateway(settings)
const admin = await home.token('root', { scopes: ['admin'] })
const transports = [...writable(openTransports(home)), restTransport(home)]
afterAll(async () => {
  for (const transport of transports) await transport[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
})

const publish = (token: string, name: string, at = home) =>
  at.request('POST', '/api/agents/publish', { token, body: publication(name) })
const usageOf = async (token: string, query = '') =>
  (await home.request('GET', `/api/usage${query}`, { token })).json.accounts
const setQuota = (body: object, token = admin) => home.request('PUT', '/api/quotas', { token, body })

describe('the owner of as many agents as the quota allows', () => {
  test('is told at every transport which quota is used up, and nothing happens', async () => {
    const token = await home.token('everywhere')
    for (const name of ['com.full.a', 'com.full.b']) expect((await publish(token, name)).status).toBe(201)
    const revision = await home.gateway.store.read.revision()
    const envelope = { to: 'svc.registry', action: 'publish', params: publication('com.full.c') }
    for (const transport of transports) {
      const outcome = await transport.call(envelope, token)
      expect([transport.name, outcome]).toEqual([transport.name, { code: 'quota_exceeded' }])
    }
    expect(await home.gateway.store.read.revision()).toBe(revision)
    const { status, headers, json } = await publish(token, 'com.full.c')
    expect([status, headers.get('retry-after'), json.retryable]).toEqual([429, null, false])
    expect(json).toMatchObject({
      code: 'quota_exceeded',
      quota: { quota: 'entries', used: 2, limit: 2, left: 0 },
    })
  })
})

describe('usage', () => {
  test('shows each quota with what is used, the limit and what is left', async () => {
    const token = await home.token('ada', { namespaces: ['com.team'] })
    await publish(token, 'com.usage.a')
    await publish(token, 'com.team.a')
    await home.request('POST', '/api/keys', { token, body: {} })
    await home.request('POST', '/api/playground/session', { token, body: {} })
    const [own, team] = await usageOf(token)
    expect(own).toMatchObject({ owner: { issuer: localIssuer, subject: 'ada' }, namespace: null })
    const byName = Object.fromEntries(own.quotas.map((state: { quota: string }) => [state.quota, state]))
    expect(byName).toMatchObject({
      entries: { used: 1, limit: 2, left: 1 },
      stage_entries: { used: 1, limit: 2, left: 1 },
      bytes: { limit: 67_108_864 },
      versions_per_day: { used: 0, limit: 1000, left: 1000 },
      api_keys: { used: 1, limit: 100, left: 99 },
      webhooks: { used: 0, limit: 10, left: 10 },
      playground_sessions: { limit: 100 },
    })
    expect(byName.bytes.used).toBeGreaterThan(300)
    expect(byName.bytes.left).toBe(67_108_864 - byName.bytes.used)
    expect(team).toMatchObject({
      owner: null,
      namespace: 'com.team',
      quotas: [{ quota: 'entries', used: 1 }, {}, {}, {}],
    })
  })

  test('of others is for admins, who have no limits themselves', async () => {
    const eve = await home.token('eve')
    for (const query of ['?subject=ada', '?namespace=com.team', '?subject=eve']) {
      const { status, json } = await home.request('GET', `/api/usage${query}`, { token: eve })
      expect([query, status, json.code]).toEqual([query, 403, 'forbidden'])
    }
    expect(await usageOf(admin, '?subject=eve')).toMatchObject([
      {
        owner: { subject: 'eve' },
        quotas: [{ quota: 'entries', used: 0, limit: 2 }, {}, {}, {}, {}, {}, {}],
      },
    ])
    expect(await usageOf(admin)).toMatchObject([
      { quotas: [{ quota: 'entries', limit: null, left: null }, {}, {}, {}, {}, {}, {}] },
    ])
    expect((await home.request('GET', '/api/usage')).status).toBe(401)
  })
})

describe('the list of accounts', () => {
  const listed = (query = '') => home.request('GET', `/api/quotas${query}`, { token: admin })

  test('begins with the account that is nearest to a limit, and says of which quota', async () => {
    const token = await home.token('near', { namespaces: ['com.near'] })
    for (const name of ['org.near.a', 'org.near.b', 'com.near.a'])
      expect((await publish(token, name)).status).toBe(201)
    const raise = { subject: 'near', quota: 'stage_entries', limit: 1 }
    expect((await setQuota(raise)).status).toBe(200)
    const { json } = await listed()
    expect(json.accounts[0]).toMatchObject({
      owner: { issuer: localIssuer, subject: 'near' },
      namespace: null,
      quota: 'stage_entries',
      share: 2,
      quotas: [{ quota: 'entries', used: 2, limit: 2, left: 0 }, { used: 2, limit: 1, left: 0 }, {}, {}],
    })
    const team = json.accounts.find(({ namespace }: { namespace: string }) => namespace === 'com.near')
    expect(team).toMatchObject({ owner: null, quota: 'entries', share: 0.5 })
    const shares = json.accounts.map(({ share }: { share: number }) => share)
    expect(shares).toEqual(shares.toSorted((left: number, right: number) => right - left))
  })

  test('goes on page by page, and refuses the cursor of another list', async () => {
    const { json: all } = await listed()
    const first = await listed('?limit=1')
    const second = await listed(`?limit=100&cursor=${first.json.next_cursor}`)
    expect([...first.json.accounts, ...second.json.accounts]).toEqual(all.accounts)
    expect(second.json.next_cursor).toBeNull()
    for (const cursor of ['x', first.json.next_cursor]) {
      const path = cursor === 'x' ? '/api/quotas' : '/api/suspensions'
      const { status, json } = await home.request('GET', `${path}?cursor=${cursor}`, { token: admin })
      expect([status, json.code]).toEqual([400, 'invalid_request'])
    }
  })

  test('has no shares where no account has a limit', async () => {
    await using free = await startGateway({ DRAGOMAN_QUOTAS: 'off' })
    await publish(await free.token('ada'), 'com.free.a', free)
    const token = await free.token('root', { scopes: ['admin'] })
    const { json } = await free.request('GET', '/api/quotas', { token })
    expect(json.accounts).toMatchObject([{ owner: { subject: 'ada' }, quota: null, share: null }])
  })
})

describe('a limit that an admin sets', () => {
  test('holds at once, for that owner alone, and null restores the standard one', async () => {
    const token = await home.token('carol')
    for (const name of ['com.carol.a', 'com.carol.b']) await publish(token, name)
    expect((await publish(token, 'com.carol.c')).status).toBe(429)
    const raised = { subject: 'carol', limit: 3 }
    for (const quota of ['entries', 'stage_entries']) {
      expect((await setQuota({ ...raised, quota })).status).toBe(200)
    }
    expect((await publish(token, 'com.carol.c')).status).toBe(201)
    expect((await publish(token, 'com.carol.d')).status).toBe(429)
    const { json } = await setQuota({ subject: 'carol', quota: 'entries', limit: null })
    expect(json.accounts[0].quotas[0]).toMatchObject({ quota: 'entries', used: 3, limit: 2, left: 0 })
    expect((await home.request('DELETE', '/api/agents/com.carol.a', { token })).status).toBe(204)
    expect((await publish(token, 'com.carol.d')).status).toBe(429)
  })

  test('is of a namespace too', async () => {
    const token = await home.token('dave', { namespaces: ['com.dave'] })
    expect((await setQuota({ namespace: 'com.dave', quota: 'entries', limit: 0 })).status).toBe(200)
    expect((await publish(token, 'com.dave.a')).json.quota).toEqual({
      quota: 'entries',
      used: 0,
      limit: 0,
      left: 0,
    })
    expect((await publish(token, 'org.dave.a')).status).toBe(201)
  })

  test.each([
    [{ quota: 'entries', limit: 1 }, 'no account'],
    [{ subject: 'a', namespace: 'com.a', quota: 'entries', limit: 1 }, 'two accounts'],
    [{ issuer: 'a', namespace: 'com.a', quota: 'entries', limit: 1 }, 'an issuer without a subject'],
    [{ subject: 'a', quota: 'webhooks', limit: 1 }, 'a quota that is fixed'],
    [{ subject: 'a', quota: 'entries', limit: -1 }, 'a negative limit'],
    [{ subject: 'a', quota: 'entries' }, 'no limit'],
  ])('is refused: %j, %s', async (body, _) => {
    const { status, json } = await setQuota(body)
    expect([status, json.code]).toEqual([400, 'invalid_request'])
  })

  test('is not for others', async () => {
    const body = { subject: 'eve', quota: 'entries', limit: 1_000_000 }
    const { status, json } = await setQuota(body, await home.token('eve'))
    expect([status, json.code]).toEqual([403, 'forbidden'])
  })

  test('survives a restart', async () => {
    await using folder = await temporaryFolder()
    const restart = () => startGateway({ ...settings, DRAGOMAN_DATA: folder.path })
    {
      await using first = await restart()
      const body = { subject: 'ada', quota: 'entries', limit: 1 }
      const token = await first.token('root', { scopes: ['admin'] })
      expect((await first.request('PUT', '/api/quotas', { token, body })).status).toBe(200)
      expect((await publish(await first.token('ada'), 'com.restart.a', first)).status).toBe(201)
    }
    await using second = await restart()
    const { json } = await publish(await second.token('ada'), 'com.restart.b', second)
    expect(json.quota).toEqual({ quota: 'entries', used: 1, limit: 1, left: 0 })
  })
})

test('without quotas an owner has no limits', async () => {
  await using open = await startGateway({ DRAGOMAN_QUOTAS: 'off' })
  const token = await open.token('ada')
  const { json } = await open.request('GET', '/api/usage', { token })
  expect(json.accounts[0].quotas[0]).toMatchObject({ quota: 'entries', limit: null, left: null })
})

test.each(['entries', 'entries=many', 'agents=5', 'entries=-1', 'entries=1;bytes=2'])(
  'DRAGOMAN_QUOTAS=%s is refused by name',
  async (text) => {
    await expect(startGateway({ DRAGOMAN_QUOTAS: text })).rejects.toThrow(/DRAGOMAN_QUOTAS: .*is not one of/)
  },
)
