import { lookup as systemLookup } from 'node:dns'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type DnsServer, serveDns } from '../support/dns.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { json, type Replay, replay, text } from '../support/replay.ts'
import { publication } from '../transports/cases.ts'
import { serveTargets, type Targets } from './webhooks/targets.ts'

const { signal } = new AbortController()

let dns: DnsServer
let site: Replay
let targets: Targets
let home: TestGateway

beforeEach(async () => {
  dns = await serveDns()
  site = await replay()
  targets = await serveTargets()
  const { port } = new URL(site.url)
  home = await startGateway(
    {
      DRAGOMAN_NAMES: 'proof',
      DRAGOMAN_DNS_SERVERS: dns.address,
      DRAGOMAN_ALLOW_ORIGINS: `${targets.url},http://acme.com:${port},http://evil.org:${port}`,
    },
    {
      originOf: (domain) => `http://${domain}:${port}`,
      lookup: (_, options, done) => systemLookup('127.0.0.1', options, done),
    },
  )
})
afterEach(async () => {
  await home[Symbol.asyncDispose]()
  for (const resource of [site, targets, dns]) await resource[Symbol.asyncDispose]()
})

const squatted = 'com.acme.weather'
const at = `/api/agents/${squatted}`

async function api(subject: string, grant?: Parameters<TestGateway['token']>[1]) {
  const token = await home.token(subject, grant)
  return (method: string, path: string, body?: unknown) => home.request(method, path, { token, body })
}
type Api = Awaited<ReturnType<typeof api>>

/** Publishes the name as mallory, who has no right to it. */
async function squat(more: object = {}): Promise<Api> {
  const mallory = await api('mallory')
  const made = await mallory('POST', '/api/agents/publish', { ...publication(squatted), ...more })
  expect(made.status).toBe(201)
  return mallory
}

/** Takes the entry live as an admin, as names need a proof here. */
async function live() {
  const root = await api('root', { scopes: ['admin'] })
  expect((await root('POST', `${at}/go-live`)).status).toBe(200)
}

/** Publishes the record that the claim or the verification asked for, and asks again. */
async function proved(call: Api, path: string, action: 'claim' | 'verify') {
  const { json: challenge } = await call('POST', `${path}/${action}`, { domain: 'acme.com' })
  dns.txt(challenge.challenges.dns.record.name, challenge.challenges.dns.record.value)
  return await call('POST', `${path}/${action}`, { domain: 'acme.com' })
}

const actions = (log: { events: { action: string }[] }) => log.events.map(({ action }) => action)

describe('who proves the domain of an agent that another published without a proof', () => {
  test('becomes its owner; the agent keeps its id, state and history, and its former owner is told', async () => {
    const mallory = await squat()
    await live()
    const { id } = (await home.request('GET', at)).json
    const { json: webhook } = await mallory('POST', '/api/webhooks', {
      url: `${targets.url}/hook`,
      mine: true,
    })
    const ada = await api('ada')

    const challenge = await ada('POST', `${at}/claim`, {})
    expect(challenge.json).toMatchObject({ verified: false, domain: 'acme.com' })
    const eve = await api('eve')
    expect((await proved(eve, at, 'claim')).json.verified).toBe(true)
    dns.clear('_dragoman-challenge.acme.com')
    expect((await eve('GET', at)).json.owner.subject).toBe('eve')
    expect((await ada('POST', `${at}/claim`, {})).json.code).toBe('wrong_state')
    expect((await home.request('GET', at)).json).toMatchObject({
      id,
      state: 'ACTIVE',
      verification_level: 'domain_verified',
    })

    expect((await mallory('PUT', at, { description: 'Mine.' })).json.code).toBe('forbidden')
    expect((await mallory('GET', '/public/agents?mine=true')).json.total).toBe(0)
    const notice = await mallory('GET', `${at}/audit`)
    expect(notice.json.events).toMatchObject([
      { action: 'take_over', actor: null, reason: 'The domain acme.com was proved.', after: null },
    ])
    expect(notice.json.events[0].before.owner.subject).toBe('mallory')
    expect(notice.text).not.toContain('"eve"')
    expect((await ada('GET', `${at}/audit`)).json.code).toBe('forbidden')
    expect(actions((await eve('GET', `${at}/audit`)).json)).toEqual(['take_over', 'go_live', 'publish'])

    await home.gateway.changes.deliverer.run(signal)
    const revision = (await home.request('GET', at)).json.revision
    expect(targets.revisions('/hook')).toContain(revision)
    expect(webhook.mine).toBe(true)
  })

  test('by a file of the site, takes over an agent in STAGE only after a proof of another name', async () => {
    await squat()
    const ada = await api('ada')
    expect((await ada('POST', `${at}/claim`, {})).json.code).toBe('not_found')
    expect((await ada('POST', '/api/agents/publish', publication(squatted))).json.detail).toBe(
      'This name cannot be taken.',
    )
    const own = '/api/agents/com.acme.own'
    await ada('POST', '/api/agents/publish', publication('com.acme.own'))
    expect((await ada('POST', `${own}/go-live`)).json.code).toBe('forbidden')
    const { json: challenge } = await ada('POST', `${own}/verify`, { domain: 'acme.com' })
    site.set({ 'GET /.well-known/dragoman-challenge': text(`${challenge.challenges.http.line}\n`) })
    expect((await ada('POST', `${own}/verify`, { domain: 'acme.com' })).json.verified).toBe(true)
    expect((await ada('POST', `${own}/go-live`)).status).toBe(200)

    const taken = await ada('POST', `${at}/claim`, { domain: 'acme.com' })
    expect(taken.json).toMatchObject({ verified: true, verification_level: 'domain_verified' })
    expect((await ada('GET', at)).json).toMatchObject({ state: 'STAGE', owner: { subject: 'ada' } })
    await ada('POST', '/api/agents/publish', publication('com.acme.third'))
    expect((await ada('POST', '/api/agents/com.acme.third/go-live')).status).toBe(200)
  })

  test('may use a name again that another published and deleted', async () => {
    const mallory = await squat()
    expect((await mallory('DELETE', at)).status).toBe(204)
    const ada = await api('ada')
    expect((await ada('POST', '/api/agents/publish', publication(squatted))).json.code).toBe('conflict')
    await ada('POST', '/api/agents/publish', publication('com.acme.own'))
    await proved(ada, '/api/agents/com.acme.own', 'verify')
    const again = await ada('POST', '/api/agents/publish', publication(squatted))
    expect([again.status, again.json.owner.subject]).toEqual([201, 'ada'])
  })

  test('follows no card of the former owner, and verifies the agent once its endpoints are its own', async () => {
    const { port } = new URL(site.url)
    const card = { name: 'Weather', description: 'Evil.', url: 'https://evil.org/a2a', skills: [] }
    site.set({ 'GET /card.json': json(card) })
    const endpoints = [{ protocol: 'a2a', url: 'https://evil.org/a2a' }]
    await squat({ manifest_url: `http://evil.org:${port}/card.json`, endpoints })
    await live()
    const ada = await api('ada')
    const { json: outcome } = await proved(ada, at, 'claim')
    expect(outcome).toMatchObject({ verified: false, verification_level: 'unverified', domain: 'acme.com' })
    expect(outcome.reason).toContain('outside acme.com')
    const { json: entry } = await ada('GET', at)
    expect(entry).toMatchObject({
      owner: { subject: 'ada' },
      verification_level: 'unverified',
      manifest: null,
    })
    expect(entry.manifest_url).not.toContain('evil.org')
    await ada('PUT', at, { endpoints: [{ protocol: 'a2a', url: 'https://acme.com/a2a' }] })
    expect((await ada('POST', `${at}/verify`, {})).json.verified).toBe(true)
  })
})

describe('an agent whose owner proved the domain', () => {
  test('is not taken over by another who proves it, nor by a namespace claim', async () => {
    const ada = await squat()
    expect((await proved(ada, at, 'verify')).json.verified).toBe(true)
    expect((await ada('POST', `${at}/go-live`)).status).toBe(200)
    expect((await ada('POST', `${at}/claim`, {})).json).toMatchObject({ code: 'wrong_state' })
    const bob = await api('bob')
    await bob('POST', '/api/agents/publish', publication('com.acme.own'))
    for (const caller of [bob, await api('carol', { namespaces: ['com.acme'] })]) {
      expect((await caller('POST', `${at}/claim`, {})).json.code).toBe('wrong_state')
    }
  })
})

describe('an agent without a proof', () => {
  test('is taken over by a token with the namespace claim of its name, without a proof', async () => {
    await squat()
    await live()
    const ada = await api('ada', { namespaces: ['com.acme'] })
    expect((await ada('POST', `${at}/claim`, {})).json).toMatchObject({ verification_level: 'unverified' })
    expect((await ada('GET', at)).json.owner).toMatchObject({ subject: 'ada', namespace: 'com.acme' })
  })
})
