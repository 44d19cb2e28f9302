import { generateKeyPairSync, sign } from 'node:crypto'
import { lookup as systemLookup } from 'node:dns'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { exportJWK, generateKeyPair } from 'jose'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { signCard } from '../../src/registry/verification/card-signature.ts'
import { type DnsServer, serveDns } from '../support/dns.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { json, type Replay, replay, text } from '../support/replay.ts'
import { publication } from '../transports/cases.ts'

const hour = 3_600_000
const day = 24 * hour
const ttl_s = 400 * 24 * 3600
const signal = new AbortController().signal

let dns: DnsServer
let site: Replay
let home: TestGateway
let now: number
/** Below the domain, on the port of the site. */
let origin: string

beforeEach(async () => {
  dns = await serveDns()
  site = await replay()
  now = Date.parse('2026-11-01T09:00:00Z')
  const { port } = new URL(site.url)
  origin = `http://agents.example.com:${port}`
  home = await startGateway(
    { DRAGOMAN_DNS_SERVERS: dns.address, DRAGOMAN_ALLOW_ORIGINS: `${origin},http://example.com:${port}` },
    {
      clock: () => now,
      originOf: (domain) => `http://${domain}:${port}`,
      lookup: (_, options, done) => systemLookup('127.0.0.1', options, done),
    },
  )
})
afterEach(async () => {
  await home[Symbol.asyncDispose]()
  await site[Symbol.asyncDispose]()
  await dns[Symbol.asyncDispose]()
})

const agent = 'com.example.weather'
const at = `/api/agents/${agent}`

async function api(subject: string, scopes?: Parameters<TestGateway['token']>[1]) {
  const token = await home.token(subject, { ttl_s, ...scopes })
  return (method: string, path: string, body?: unknown) => home.request(method, path, { token, body })
}

async function publishAs(subject: string, more: object = {}) {
  const call = await api(subject)
  expect((await call('POST', '/api/agents/publish', { ...publication(agent), ...more })).status).toBe(201)
  expect((await call('POST', `${at}/go-live`)).status).toBe(200)
  return call
}

async function seenByAll() {
  return (await home.request('GET', at)).json
}

/** So many daily checks. */
async function days(count: number) {
  for (let each = 0; each < count; each++) {
    now += day
    await home.gateway.verification.checker.run(signal)
    await home.gateway.tailer.caughtUp(await home.gateway.store.read.revision())
  }
}

describe('a domain', () => {
  test('is unverified, verified, demoted after three missed days, and restored', async () => {
    const ada = await publishAs('ada')
    expect((await seenByAll()).verification_level).toBe('unverified')

    const { json: outcome } = await ada('POST', `${at}/verify`, { domain: 'example.com' })
    expect(outcome).toMatchObject({
      verified: false,
      domain: 'example.com',
      verification_level: 'unverified',
    })
    expect(outcome.attempts.map((attempt: { method: string }) => attempt.method)).toEqual([
      'dns',
      'http',
      'mcp',
    ])

    const { name, value } = outcome.challenges.dns.record
    dns.txt(name, 'something else', value)
    const { json: proved } = await ada('POST', `${at}/verify`, { domain: 'example.com' })
    expect(proved).toMatchObject({ verified: true, verification_level: 'domain_verified' })
    const entry = await seenByAll()
    expect(entry).toMatchObject({
      verification_level: 'domain_verified',
      verification: { method: 'dns', domain: 'example.com', failures: 0, failing_since: null },
    })

    await days(3)
    expect((await seenByAll()).verification).toMatchObject({
      proved_at: '2026-11-01T09:00:00.000Z',
      checked_at: '2026-11-04T09:00:00.000Z',
    })

    dns.clear(name)
    await days(2)
    expect(await seenByAll()).toMatchObject({
      verification_level: 'domain_verified',
      verification: { failures: 2, failing_since: '2026-11-05T09:00:00.000Z', detail: null },
    })
    await days(1)
    expect((await seenByAll()).verification_level).toBe('unverified')
    const { json: mine } = await ada('GET', at)
    expect(mine.verification.failures).toBe(3)
    expect(mine.verification.detail).toContain('example.com')

    dns.txt(name, value)
    await days(1)
    expect((await seenByAll()).verification_level).toBe('domain_verified')
    const { json: log } = await ada('GET', `${at}/audit`)
    const actions = log.events.map((event: { action: string }) => event.action)
    expect(actions).toEqual(['restore', 'demote', 'check', 'check', 'verify', 'go_live', 'publish'])
    const demoted = log.events[1]
    expect(demoted).toMatchObject({ actor: null, before: { verification_level: 'domain_verified' } })
    expect(demoted.reason).toContain('example.com')
  })

  test('is not demoted by a clock that jumps, nor by repeated checks', async () => {
    const ada = await publishAs('ada')
    const { json: outcome } = await ada('POST', `${at}/verify`, { domain: 'example.com' })
    dns.txt(outcome.challenges.dns.record.name, outcome.challenges.dns.record.value)
    await ada('POST', `${at}/verify`, { domain: 'example.com' })
    dns.clear(outcome.challenges.dns.record.name)
    now += 365 * day
    const { json: entry } = await ada('GET', at)
    for (let each = 0; each < 5; each++) await home.gateway.verification.checker.check(entry.id, signal)
    expect((await ada('GET', at)).json.verification).toMatchObject({ failures: 1 })
    expect((await seenByAll()).verification_level).toBe('domain_verified')

    // The clock is set back by a year: an entry due in a year is checked within two days.
    now -= 365 * day
    expect(await home.gateway.verification.checker.isDue()).toBe(true)
  })

  test('is proved by a file, and by the record and key of the MCP registry', async () => {
    const ada = await publishAs('ada')
    const { json: outcome } = await ada('POST', `${at}/verify`, { domain: 'example.com' })
    site.set({ 'GET /.well-known/dragoman-challenge': text(`# ours\n${outcome.challenges.http.line}\n`) })
    const byFile = await ada('POST', `${at}/verify`, { domain: 'example.com', method: 'http' })
    expect(byFile.json).toMatchObject({ verified: true })

    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64')
    dns.txt('example.com', `v=MCPv1; k=ed25519; p=${raw}`)
    const signature = sign(null, Buffer.from(outcome.challenges.mcp.sign), privateKey).toString('base64')
    const byKey = await ada('POST', `${at}/verify`, { domain: 'example.com', method: 'mcp', signature })
    expect(byKey.json).toMatchObject({ verified: true })
    await days(1)
    expect((await seenByAll()).verification).toMatchObject({ method: 'mcp', failures: 0 })
    expect(JSON.stringify(await seenByAll())).not.toContain(signature)
  })

  test('reserves its names for the owners who proved it', async () => {
    const ada = await publishAs('ada')
    const { json: outcome } = await ada('POST', `${at}/verify`, { domain: 'example.com' })
    dns.txt(outcome.challenges.dns.record.name, outcome.challenges.dns.record.value)
    await ada('POST', `${at}/verify`, { domain: 'example.com' })
    const mallory = await api('mallory')
    const refused = await mallory('POST', '/api/agents/publish', publication('com.example.other'))
    expect(refused.json).toMatchObject({ code: 'forbidden' })
    expect((await ada('POST', '/api/agents/publish', publication('com.example.other'))).status).toBe(201)
    const granted = await api('grace', { namespaces: ['com.example'] })
    expect((await granted('POST', '/api/agents/publish', publication('com.example.third'))).status).toBe(201)
  })

  test.each([
    ['another name', { domain: 'other.org' }, 'not other.org'],
    ['a public suffix', { domain: 'com' }, 'not com'],
  ])('is not proved that is %s', async (_, body, reason) => {
    const ada = await publishAs('ada')
    const { json: outcome } = await ada('POST', `${at}/verify`, body)
    expect(outcome).toMatchObject({ verified: false, domain: null, challenges: null })
    expect(outcome.reason).toContain(reason)
    expect(dns.questions).toEqual([])
  })

  test('is not proved if the manifest is at another host', async () => {
    const ada = await publishAs('ada', { manifest_url: 'https://elsewhere.org/card.json' })
    const { json: outcome } = await ada('POST', `${at}/verify`, {})
    expect(outcome).toMatchObject({ verified: false, domain: null })
    expect(outcome.reason).toContain('elsewhere.org')
  })

  test('stays with its owner: a transfer must prove it again', async () => {
    const ada = await publishAs('ada')
    const { json: outcome } = await ada('POST', `${at}/verify`, { domain: 'example.com' })
    dns.txt(outcome.challenges.dns.record.name, outcome.challenges.dns.record.value)
    await ada('POST', `${at}/verify`, { domain: 'example.com' })
    await ada('POST', `${at}/transfer`, { subject: 'bob' })
    expect((await seenByAll()).verification_level).toBe('domain_verified')
    const bob = await api('bob')
    await bob('POST', `${at}/accept-transfer`)
    expect((await seenByAll()).verification_level).toBe('unverified')
    expect((await bob('POST', `${at}/verify`, { domain: 'example.com' })).json.verified).toBe(false)
    expect((await ada('PUT', at, { description: 'Mine.' })).json.code).toBe('forbidden')
  })
})

describe('an unclaimed import', () => {
  const imported = 'com.example.agents/courier'
  const path = `/api/agents/${encodeURIComponent(imported)}`

  async function importCard() {
    const card = {
      name: 'Courier',
      description: 'Delivers.',
      protocolVersion: '0.3.0',
      url: `${origin}/a2a`,
      wellKnownURI: `${origin}/card.json`,
      skills: [{ id: 'deliver', name: 'deliver', description: 'Delivers.', tags: [] }],
    }
    site.set({ 'GET /card.json': json({ ...card, description: 'Delivers everywhere.' }) })
    const root = await api('root', { scopes: ['admin'] })
    const params = { lines: [JSON.stringify(card)] }
    const done = await root('POST', '/a2a/message', { to: 'svc.registry', action: 'import_entries', params })
    expect(done.json).toMatchObject({ created: 1 })
  }

  test('is claimed by proving its domain, and keeps its history', async () => {
    await importCard()
    expect((await home.request('GET', path)).json).toMatchObject({
      verification_level: 'unclaimed',
      owner: null,
    })
    const ada = await api('ada')
    const { json: outcome } = await ada('POST', `${path}/claim`, { domain: 'example.com' })
    expect(outcome).toMatchObject({ verified: false, domain: 'example.com' })
    expect((await ada('PUT', path, { description: 'Mine.' })).json.code).toBe('forbidden')
    expect((await ada('GET', `${path}/audit`)).json.code).toBe('forbidden')

    dns.txt(outcome.challenges.dns.record.name, outcome.challenges.dns.record.value)
    const mallory = await api('mallory')
    expect((await mallory('POST', `${path}/claim`, { domain: 'example.com' })).json.verified).toBe(false)
    const { json: claimed } = await ada('POST', `${path}/claim`, { domain: 'example.com' })
    expect(claimed).toMatchObject({ verified: true, verification_level: 'domain_verified' })
    expect((await ada('GET', path)).json.owner).toMatchObject({ subject: 'ada' })
    expect((await mallory('POST', `${path}/claim`, {})).json.code).toBe('wrong_state')

    await home.gateway.verification.checker.run(signal)
    expect((await ada('GET', path)).json).toMatchObject({
      description: 'Delivers everywhere.',
      signature: 'none',
    })
    const { json: log } = await ada('GET', `${path}/audit`)
    expect(log.events.map((event: { action: string }) => event.action)).toEqual(['check', 'claim', 'import'])
    expect(log.events[1]).toMatchObject({ actor: { subject: 'ada' }, before: { owner: null } })
  })

  test('is claimed by a namespace claim, without a proof', async () => {
    await importCard()
    const ada = await api('ada', { namespaces: ['com.example'] })
    const { json: claimed } = await ada('POST', `${path}/claim`, {})
    expect(claimed).toMatchObject({ verified: false, verification_level: 'unverified' })
    expect((await ada('PUT', path, { description: 'Mine.' })).status).toBe(200)
  })
})

test('an owner who calls a suspended agent reads why, and others read that it does not exist', async () => {
  const name = 'com.suspended.called'
  const ada = await api('ada', { scopes: ['agents:write', 'agents:publish', 'a2a:call'] })
  await ada('POST', '/api/agents/publish', publication(name))
  await ada('POST', `/api/agents/${name}/go-live`)
  const admin = await api('root', { scopes: ['admin'] })
  await admin('POST', `/api/agents/${name}/suspend`, { reason: 'It asks for passwords.' })
  const call = { to: name, action: 'echo', params: {} }
  expect((await ada('POST', '/a2a/message', call)).json).toMatchObject({
    code: 'suspended',
    detail: `${name} is suspended: It asks for passwords.`,
  })
  const bob = await api('bob', { scopes: ['a2a:call'] })
  expect((await bob('POST', '/a2a/message', call)).json).toMatchObject({ code: 'not_found' })
})

describe('the log of all agents', () => {
  test('tells admins what was reported, suspended and removed, whichever agent it was, and nobody else', async () => {
    const [ada, bob] = [await api('ada'), await api('bob')]
    for (const name of ['one', 'two']) {
      await ada('POST', '/api/agents/publish', publication(`com.logged.${name}`))
      await ada('POST', `/api/agents/com.logged.${name}/go-live`)
      await bob('POST', `/api/agents/com.logged.${name}/report`, { reason: 'broken' })
    }
    const admin = await api('root', { scopes: ['admin'] })
    await admin('POST', '/api/agents/com.logged.one/suspend', { reason: 'It asks for passwords.' })
    const { json: purged } = await admin('POST', '/api/agents/com.logged.two/purge', { reason: 'Law.' })
    const events = async (query: string) => (await admin('GET', `/api/audit?${query}`)).json
    expect(await events('limit=2')).toMatchObject({
      events: [
        { action: 'purge', agent: purged.id, package_name: null, reason: 'Law.' },
        { action: 'suspend', package_name: 'com.logged.one', reason: 'It asks for passwords.' },
      ],
    })
    const first = await events('action=publish&limit=1')
    expect(first.events).toMatchObject([{ package_name: 'com.logged.one', actor: { subject: 'ada' } }])
    expect((await events('action=report')).events[0]).toMatchObject({
      package_name: 'com.logged.one',
      actor: { subject: 'bob' },
    })
    const { next_cursor } = await events('limit=1')
    const next = await events(`limit=1&cursor=${next_cursor}`)
    expect(next.events).toMatchObject([{ action: 'suspend' }])
    expect((await ada('GET', '/api/audit')).json).toMatchObject({ code: 'forbidden', scope: 'admin' })
  })
})

describe('the list of suspended agents', () => {
  test('tells admins which agents are hidden, of whom, since when, why and by whom, page by page', async () => {
    const [ada, eve] = [await api('ada'), await api('eve', { scopes: ['admin'] })]
    const admin = await api('root', { scopes: ['admin'] })
    const names = ['com.hidden.one', 'com.hidden.two', 'com.hidden.three']
    for (const name of names) {
      await ada('POST', '/api/agents/publish', publication(name))
      await ada('POST', `/api/agents/${name}/go-live`)
      await admin('POST', `/api/agents/${name}/suspend`, { reason: 'A mistake.' })
      await admin('POST', `/api/agents/${name}/suspend`, { suspended: false })
      now += 1000
      await eve('POST', `/api/agents/${name}/suspend`, { reason: `It lied as ${name}.` })
    }
    await ada('DELETE', '/api/agents/com.hidden.two')
    await admin('POST', '/api/agents/com.hidden.three/suspend', { suspended: false })
    const listed = async (query: string) => (await admin('GET', `/api/suspensions${query}`)).json
    const first = await listed('?limit=1')
    expect(first.agents).toMatchObject([
      {
        package_name: 'com.hidden.two',
        owner: { subject: 'ada' },
        state: 'ACTIVE',
        deleted: true,
        suspended: { reason: 'It lied as com.hidden.two.', at: expect.stringMatching(/^20.*Z$/) },
        suspended_by: { subject: 'eve' },
      },
    ])
    const second = await listed(`?limit=1&cursor=${first.next_cursor}`)
    expect(second.agents).toMatchObject([{ package_name: 'com.hidden.one', deleted: false }])
    for (const query of ['?by=nobody', `?by=source&cursor=${first.next_cursor}`])
      expect(await listed(query)).toMatchObject({ code: 'invalid_request' })
    expect((await ada('GET', '/api/suspensions')).json).toMatchObject({ code: 'forbidden', scope: 'admin' })
  })

  test('goes on after an agent that an earlier version, which writes the document alone, has shown again', async () => {
    const admin = await api('root', { scopes: ['admin'] })
    for (const name of ['com.hidden.early', 'com.hidden.late']) {
      await admin('POST', '/api/agents/publish', publication(name))
      await admin('POST', `/api/agents/${name}/suspend`, { reason: 'A mistake.' })
      now += 1000
    }
    using database = new DatabaseSync(join(home.data, 'registry.sqlite'))
    database.exec(
      "update entry set document = json_set(document, '$.suspended', null) where package_name = 'com.hidden.late'",
    )
    const { json: page } = await admin('GET', '/api/suspensions?limit=1')
    expect(page.agents).toEqual([])
    const { json: next } = await admin('GET', `/api/suspensions?limit=1&cursor=${page.next_cursor}`)
    expect(next).toMatchObject({ agents: [{ package_name: 'com.hidden.early' }], next_cursor: null })
  })
})

describe('the card at the manifest URL', () => {
  const card = {
    name: 'Weather',
    description: 'Tells the weather.',
    protocolVersion: '0.3.0',
    version: '1.0.0',
    url: 'https://agents.example.com/a2a',
    capabilities: {},
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'forecast', name: 'forecast', description: 'Forecasts.', tags: ['weather'] }],
  }

  test('is enough to publish by, is followed, and shows that it changed since it was verified', async () => {
    site.set({ 'GET /card.json': json(card) })
    const ada = await api('ada')
    const made = await ada('POST', '/api/agents/publish', {
      package_name: agent,
      manifest_url: `${origin}/card.json`,
    })
    expect(made.json).toMatchObject({
      name: 'Weather',
      tags: ['weather'],
      capabilities: [{ name: 'forecast' }],
      manifest: { status: 'ok' },
    })
    expect(made.json.card_sha256).toMatch(/^[0-9a-f]{64}$/)
    await ada('POST', `${at}/go-live`)
    const { json: outcome } = await ada('POST', `${at}/verify`, {})
    expect(outcome.domain).toBe('example.com')
    dns.txt(outcome.challenges.dns.record.name, outcome.challenges.dns.record.value)
    await ada('POST', `${at}/verify`, {})
    expect(await seenByAll()).toMatchObject({ changed_since_verified: false })

    const skills = [...card.skills, { id: 'alert', name: 'alert', description: 'Warns of hail.', tags: [] }]
    site.set({ 'GET /card.json': json({ ...card, description: 'Tells and warns.', skills }) })
    await days(1)
    const changed = await seenByAll()
    expect(changed).toMatchObject({ description: 'Tells and warns.', changed_since_verified: true })
    expect(changed.card_sha256).not.toBe(made.json.card_sha256)
    const found = await home.request('GET', '/public/agents?q=warns%20of%20hail')
    expect(found.json.agents[0].package_name).toBe(agent)
    await ada('POST', `${at}/verify`, {})
    expect(await seenByAll()).toMatchObject({ changed_since_verified: false })
  })

  test('alone is enough: the name is the one in the card, or made of its host and its name', async () => {
    site.set({
      'GET /card.json': json(card),
      'GET /named.json': json({ ...card, agent_id: 'custom.com.example.named' }),
    })
    const ada = await api('ada')
    const derived = await ada('POST', '/api/agents/publish', { manifest_url: `${origin}/card.json` })
    expect([derived.status, derived.json.package_name]).toEqual([201, 'com.example.agents/weather'])
    const named = await ada('POST', '/api/agents/publish', { manifest_url: `${origin}/named.json` })
    expect([named.status, named.json.package_name]).toEqual([201, 'com.example.named'])
    const again = await ada('POST', '/api/agents/publish', { manifest_url: `${origin}/named.json` })
    expect(again.json.code).toBe('conflict')
  })

  test('does not replace the owner’s statements, and its difference is a finding for the owner', async () => {
    site.set({ 'GET /card.json': json(card) })
    const ada = await publishAs('ada', { manifest_url: `${origin}/card.json` })
    await home.gateway.verification.checker.run(signal)
    const { json: mine } = await ada('GET', at)
    expect(mine.description).toBe(publication(agent).description)
    const differing = mine.manifest.findings.filter(
      (item: { code: string }) => item.code === 'differs_from_manifest',
    )
    expect(differing.map((item: { field: string }) => item.field)).toContain('/description')
    expect((await seenByAll()).manifest).toMatchObject({ status: 'ok', findings: [] })
  })

  test.each([
    ['names another package', { ...card, agent_id: 'custom.com.bank.app' }, 'invalid', 'other_package'],
    [
      'hides characters',
      { ...card, description: 'Tells\u202e the weather.' },
      'invalid',
      'hidden_characters',
    ],
    ['is no card', [1], 'invalid', 'not_an_object'],
    ['has no name', { description: 'x' }, 'invalid', 'missing_field'],
  ])('that %s is not followed, and the owner sees why', async (_, document, status, code) => {
    site.set({ 'GET /card.json': json(document) })
    const ada = await publishAs('ada', { manifest_url: `${origin}/card.json` })
    await home.gateway.verification.checker.run(signal)
    const { json: mine } = await ada('GET', at)
    expect(mine.manifest.status).toBe(status)
    expect(mine.manifest.findings.map((finding: { code: string }) => finding.code)).toContain(code)
    expect(mine.description).toBe(publication(agent).description)
    expect((await seenByAll()).manifest).toMatchObject({ status, detail: null, findings: [] })
  })

  test.each([
    ['greets', { status: 'ok', message: 'Welcome' }, 'an object with status, message,'],
    [
      'describes an API',
      { name: 'api', version: '1', ...Object.fromEntries('abcdefgh'.split('').map((key) => [key, 1])) },
      'an object with name, version, a, b, c, d, e, f, and 2 more,',
    ],
    ['says nothing', {}, 'an empty object,'],
  ])(
    'whose address answers with other JSON, which %s, is refused with what was found and expected',
    async (_, document, found) => {
      site.set({ 'GET /': json(document) })
      const ada = await api('ada')
      const url = `${origin}/`
      const refused = await ada('POST', '/api/agents/publish', { package_name: agent, manifest_url: url })
      expect(refused.json).toMatchObject({
        code: 'upstream_invalid',
        detail: expect.stringContaining(`${url} is ${found}`),
        hint: expect.stringContaining(
          `The card of an A2A agent is usually at ${origin}/.well-known/agent-card.json, before 0.3 at ${origin}/.well-known/agent.json.`,
        ),
      })
      const { json: validation } = await ada('POST', '/api/agents/validate', { manifest_url: url })
      const { detail, hint } = refused.json
      const [{ code, message, suggestion }] = validation.findings
      expect(['not_a_card', detail, hint]).toEqual([
        code,
        `The manifest cannot be listed: ${message}`,
        suggestion,
      ])
    },
  )

  test.each([
    ['too large', { body: `"${'x'.repeat(300_000)}"` }],
    ['gone', { status: 404 }],
    ['no JSON', { body: '<html>' }],
    ['led to a private address', { status: 302, headers: { location: 'http://10.0.0.1/card.json' } }],
  ])('that is %s leaves what was read before', async (_, answer) => {
    site.set({ 'GET /card.json': [json(card), answer] })
    const ada = await api('ada')
    await ada('POST', '/api/agents/publish', { package_name: agent, manifest_url: `${origin}/card.json` })
    await ada('POST', `${at}/go-live`)
    await home.gateway.verification.checker.run(signal)
    const { json: mine } = await ada('GET', at)
    expect(mine.manifest.status).toBe('unreachable')
    expect(mine.manifest.detail).toMatch(/./)
    expect(mine.card).toMatchObject({ name: 'Weather' })
  })

  test('is checked by the keys of the proved domain, once it is proved', async () => {
    const { privateKey, publicKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })
    const signed = await signCard(card, { private_key: privateKey, kid: 'one' })
    const keys = [{ ...(await exportJWK(publicKey)), kid: 'one' }]
    site.set({ 'GET /card.json': json(signed), 'GET /.well-known/jwks.json': json({ keys }) })
    const ada = await api('ada')
    await ada('POST', '/api/agents/publish', { package_name: agent, manifest_url: `${origin}/card.json` })
    await ada('POST', `${at}/go-live`)
    await home.gateway.verification.checker.run(signal)
    expect(await seenByAll()).toMatchObject({ signature: 'untrusted_key' })

    const { json: outcome } = await ada('POST', `${at}/verify`, {})
    dns.txt(outcome.challenges.dns.record.name, outcome.challenges.dns.record.value)
    await ada('POST', `${at}/verify`, {})
    await home.gateway.verification.checker.run(signal)
    expect(await seenByAll()).toMatchObject({
      signature: 'valid',
      signature_report: { key_id: 'one', covers_all: true },
    })

    site.set({ 'GET /card.json': json({ ...signed, description: 'Changed.' }) })
    await days(1)
    expect(await seenByAll()).toMatchObject({ signature: 'invalid' })
  })
})
