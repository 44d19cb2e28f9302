import { lookup as systemLookup } from 'node:dns'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readProtectedName } from '../../src/registry/entry/imitation.ts'
import { displayKey } from '../../src/store/entries/display-names.ts'
import { type DnsServer, serveDns } from '../support/dns.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { openRegistry, person, publication, signal, type TestRegistry } from '../support/registry.ts'

describe("a display name that imitates one of the operator's list", () => {
  let registry: TestRegistry
  let made = 0
  beforeAll(async () => {
    registry = await openRegistry({
      protectedNames: ['Google', 'PayPal', 'Open AI', 'Microsoft'].map(readProtectedName),
    })
  })
  afterAll(() => registry[Symbol.asyncDispose]())

  async function flagsOf(name: string): Promise<readonly string[]> {
    made += 1
    const entry = publication(`com.names.agent-${made}`, { name })
    return (await registry.publish(entry, person('mallory'), signal)).content_flags
  }

  test.each([
    ...[
      'Google',
      '𝐆oogle',
      'ⓖoogle',
      'ＧＯＯＧＬＥ',
      'ɡoogle',
      'Ꮐoogle',
      'Goog̲le',
      'PayPaI',
      'Google™ (official)',
    ],
    ...[
      'Official Google agent',
      'GOOGLE',
      'G00gle',
      'Goog1e',
      'Goog|e',
      'G o o g l e',
      'Go-ogle',
      '🅖oogle',
      '🄶oogle',
    ],
    ...[
      'Gøøgle',
      'Google®',
      'Google ✅',
      '✓ Google',
      'Verified Google',
      'Google - Verified',
      'PAYPAL',
      'Pay Pal',
      'Pаyраl',
    ],
    ...[
      'OpenAl',
      'OPENAI',
      'OpenAI',
      'MICROSOFT',
      'Micr0soft',
      'Microsоft'.replace('о', 'o'),
      'Ⓜicrosoft',
      'Rnicrosoft',
    ],
    ...['The official agent of Google', 'Google Sheets (official)', 'ᏀᎾᎾᏀᏞᎬ', '𝗣𝗮𝘆𝗣𝗮𝗹', 'Google — original'],
  ])('%s is flagged', async (name) => {
    expect(await flagsOf(name)).toEqual(['imitates_name'])
  })

  test.each([
    ...[
      'Google Sheets exporter',
      'Exports to Google Drive',
      'Googly',
      'Goggle',
      'Payroll',
      'Paypal invoices reader',
    ],
    ...[
      'Official weather agent',
      'Verified',
      'Open AIr quality',
      'Microsoftware',
      'Weather',
      '天气',
      'Google for dogs',
    ],
    ...['Gopher', 'Mail', 'A', '1'],
  ])('%s is not flagged', async (name) => {
    expect(await flagsOf(name)).toEqual([])
  })

  test('is flagged by an update, and no longer once it has another name', async () => {
    await registry.publish(publication('com.names.changing', { name: 'Search' }), person('mallory'), signal)
    const rename = (name: string) =>
      registry.update({ agent: 'com.names.changing' }, { name }, person('mallory'))
    expect((await rename('PayPaI')).content_flags).toEqual(['imitates_name'])
    expect((await rename('Searcher')).content_flags).toEqual([])
  })

  test('ranks after every other agent that a search finds', async () => {
    const twin = { description: 'Translates whales into sonnets.' }
    await registry.list(publication('com.names.false', { name: 'Google', ...twin }), person('mallory'))
    await registry.list(publication('com.names.true', { name: 'Sonnets', ...twin }), person('ada'))
    await registry.list(
      publication('com.names.weak', { name: 'Other', description: 'Also has whales.' }),
      person('ada'),
    )
    const { names } = await registry.find({ query: 'google translates whales into sonnets' })
    expect(names.at(-1)).toBe('com.names.false')
    expect(names).toContain('com.names.weak')
  })
})

test('names that look alike have one key, whatever their case and marks', () => {
  const groups = [
    ['Google', 'GOOGLE', 'ɡoogle', 'Google™ (official)', 'Go ogle'],
    ['Microsoft', 'MICROSOFT', 'rnicrosoft', 'Micr0soft'],
    ['OpenAI', 'OpenAl', 'Open AI'],
  ]
  for (const group of groups) expect(new Set(group.map(displayKey)).size).toBe(1)
  expect(new Set(groups.flat().map(displayKey)).size).toBe(groups.length)
})

describe('a display name of a verified agent', () => {
  let dns: DnsServer
  let home: TestGateway
  beforeAll(async () => {
    dns = await serveDns()
    home = await startGateway(
      { DRAGOMAN_DNS_SERVERS: dns.address, DRAGOMAN_PROTECTED_NAMES: 'Globex=globex.com' },
      { lookup: (_, options, done) => systemLookup('127.0.0.1', options, done) },
    )
  })
  afterAll(async () => {
    await home[Symbol.asyncDispose]()
    await dns[Symbol.asyncDispose]()
  })

  async function publish(subject: string, package_name: string, name: string) {
    const token = await home.token(subject)
    const body = publication(package_name, { name })
    await home.request('POST', '/api/agents/publish', { token, body })
    await home.request('POST', `/api/agents/${package_name}/go-live`, { token })
  }

  /** Proves the domain of an agent and waits for the checks that follow. */
  async function verify(subject: string, package_name: string, domain: string) {
    const token = await home.token(subject)
    const ask = () =>
      home.request('POST', `/api/agents/${package_name}/verify`, { token, body: { domain, method: 'dns' } })
    const { name, value } = (await ask()).json.challenges.dns.record
    dns.txt(name, value)
    expect((await ask()).json.verified).toBe(true)
    await checks()
  }

  /** Runs the checks that are due, and those that they make due. */
  async function checks() {
    while ((await home.gateway.verification.checker.run(signal)) > 0);
  }

  const flagsOf = async (package_name: string) =>
    (await home.request('GET', `/api/agents/${package_name}`)).json.content_flags

  test('flags the agents of other owners that imitate it, those of before and those of after', async () => {
    await publish('ada', 'com.acme.weather', 'Acme Weather')
    await publish('mallory', 'com.evil.weather', 'Acrne Weather')
    await publish('ada', 'net.acme.weather', 'ACME Weather')
    await publish('eve', 'com.elsewhere.weather', 'Acme Weather maps')
    expect(await flagsOf('com.evil.weather')).toEqual([])
    await verify('ada', 'com.acme.weather', 'acme.com')
    expect(await flagsOf('com.evil.weather')).toEqual(['imitates_name'])
    await publish('mallory', 'com.evil.other', '𝐀cme Weather (official)')
    expect(await flagsOf('com.evil.other')).toEqual(['imitates_name'])
    for (const other of ['com.acme.weather', 'net.acme.weather', 'com.elsewhere.weather']) {
      expect(await flagsOf(other)).toEqual([])
    }
    await verify('mallory', 'com.evil.weather', 'evil.com')
    expect(await flagsOf('com.evil.weather')).toEqual(['imitates_name'])
    const token = await home.token('ada')
    const body = { description: 'The first with this name.' }
    await home.request('PUT', '/api/agents/com.acme.weather', { token, body })
    expect(await flagsOf('com.acme.weather')).toEqual([])
  })

  test('flags nothing while that agent is hidden, and its imitations once it is live', async () => {
    await publish('ivy', 'com.initech.agent', 'Initech')
    const token = await home.token('ivy')
    await home.request('POST', '/api/agents/com.initech.agent/unpublish', { token })
    await verify('ivy', 'com.initech.agent', 'initech.com')
    await publish('mallory', 'com.evil.third', 'lnitech')
    expect(await flagsOf('com.evil.third')).toEqual([])
    await home.request('POST', '/api/agents/com.initech.agent/go-live', { token })
    await checks()
    expect(await flagsOf('com.evil.third')).toEqual(['imitates_name'])
  })

  test('that the operator protects is for the agents of its domain', async () => {
    await publish('glo', 'com.globex.agent', 'Globex')
    expect(await flagsOf('com.globex.agent')).toEqual(['imitates_name'])
    await verify('glo', 'com.globex.agent', 'globex.com')
    expect(await flagsOf('com.globex.agent')).toEqual([])
  })
})
