import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { PersonalTable } from '../../../schemas/personal-data.ts'
import { localPrincipal } from '../../../src/auth/authenticator.ts'
import { colouredJson } from '../../../src/transports/page/site/parts.ts'
import { Browser, type Form, type Visited } from '../../support/browser.ts'
import { temporaryFolder } from '../../support/command.ts'
import { serveDns } from '../../support/dns.ts'
import { sampleEntry } from '../../support/entries.ts'
import { startGateway } from '../../support/gateway.ts'
import { startModernServer } from '../../support/mcp-servers.ts'
import {
  authorizationRequest,
  instantLogin,
  register,
  signIn,
  signInOperator,
} from '../../support/sign-in.ts'

const login = instantLogin({ namespaces: [] })

const dns = await serveDns()
const home = await startGateway(
  { DRAGOMAN_DNS_SERVERS: dns.address, DRAGOMAN_NAMES: 'proof' },
  { logins: [login] },
)
afterAll(async () => {
  await home[Symbol.asyncDispose]()
  await dns[Symbol.asyncDispose]()
})

/** A browser that a person has signed in with, without scripts. */
async function visitor(subject = 'ada', path = '/me', namespaces: readonly string[] = []) {
  login.person = { ...login.person, subject, name: subject, namespaces }
  const browser = new Browser(home.url)
  const page = await signIn(browser, await browser.open(home.url + path))
  return { browser, page }
}

/** The form of a page with a field of this value; `do` names what most buttons do. */
function formWith(page: Visited, value: string, field = 'do'): Form {
  const form = page.forms.find(({ fields }) => fields[field] === value)
  if (!form) throw new Error(`No form has ${field} ${value}: ${page.text}`)
  return form
}

const agent = {
  package_name: 'com.ada-weather.forecast',
  name: 'Forecast',
  description: 'Forecasts for any town.',
  endpoint: 'https://ada-weather.com/mcp',
  protocol: 'mcp',
  tags: 'weather, rain',
  category: 'weather',
}

test('whoever is not signed in signs in first, and comes back to the same page', async () => {
  const browser = new Browser(home.url)
  const first = await browser.open(`${home.url}/me/keys`)
  expect(first.url).toBe(`${home.url}/sign-in?then=%2Fme%2Fkeys`)
  const back = await signIn(browser, first)
  expect([back.status, back.url]).toEqual([200, `${home.url}/me/keys`])
  expect(back.headers.get('cache-control')).toBe('private, no-store')
})

test('every page of the sign-in leads back to the site, and to the page that did not need it', async () => {
  const browser = new Browser(home.url)
  const from = (page: string) => browser.open(`${home.url}/sign-in?then=${encodeURIComponent(page)}`)
  expect((await from('/agent/svc.utility.reader')).links).toEqual(
    expect.arrayContaining(['/', '/agent/svc.utility.reader']),
  )
  const member = await from('/me/keys')
  expect(member.text).toContain('<a href="/">Go back without signing in</a>')
  const account = await signIn(browser, member).then(() => browser.open(`${home.url}/sign-in`))
  expect(account.links).toContain('/')
  const signedOut = await browser.submit(account)
  expect(signedOut.links).toEqual(expect.arrayContaining(['/', '/sign-in']))
  expect((await browser.open(`${home.url}/sign-in/nobody`)).links).toContain('/')
})

test('an owner sees the agent as readers will, comes back from there, and reads what readers reported', async () => {
  const package_name = 'com.lea-tides.tables'
  const managed = `${home.url}/me/agents/${package_name}`
  const { browser, page } = await visitor('lea', '/publish?way=form')
  const staged = await browser.submit(page, { ...agent, package_name, do: 'publish' })
  const preview = await browser.open(`${home.url}/agent/${package_name}`)
  expect(staged.links).toContain(`/agent/${package_name}`)
  expect(preview.links).toContain(`/me/agents/${package_name}`)

  const { store } = home.gateway
  await store.write(async (writer) => {
    const entry = await writer.entry({ package_name })
    if (entry) await writer.put({ ...entry, state: 'ACTIVE' })
  })
  const { browser: reader } = await visitor('tom')
  const report = await reader.open(`${home.url}/agent/${package_name}/report`)
  await reader.submit(report, { reason: 'broken', detail: 'It <b>never</b> answers.' }, report.forms.at(-1))
  const { text } = await browser.open(managed)
  expect(text).toContain('broken: It &lt;b&gt;never&lt;/b&gt; answers.')
  expect(text).toContain('a reader')
  expect(text).not.toContain('<code>tom</code>')

  // A stranger is not shown forms that would all be refused.
  expect((await reader.open(`${home.url}/agent/${package_name}`)).links).not.toContain(
    `/me/agents/${package_name}`,
  )
  const { status, forms } = await reader.open(managed)
  expect([status, forms]).toEqual([403, []])
})

test('an owner reads how often an agent was called, by days', async () => {
  const package_name = 'com.ben-rain.counted'
  const { browser, page } = await visitor('ben', '/publish?way=form')
  await browser.submit(page, { ...agent, package_name, do: 'publish' })
  const managed = `${home.url}/me/agents/${package_name}`
  const { store } = home.gateway
  await store.write(async (writer) => {
    const staged = await writer.entry({ package_name })
    if (staged) await writer.put({ ...staged, state: 'ACTIVE' })
  })
  expect((await browser.open(managed)).text).toContain('Nobody called it in the last 30 days.')

  const entry = await store.read.entry({ package_name })
  const today = Math.floor(Date.now() / 86_400_000)
  const counts = { calls: 12, refused: 2, failed: 1 }
  await store.calls.add(today, new Map([[String(entry?.id), counts]]))
  const { text } = await browser.open(managed)
  expect(text).toContain('12 calls in the last 30 days: 2 refused, 1 failed.')
  const date = new Date().toISOString().slice(0, 10)
  expect(text).toContain(`<th scope="row">${date}</th><td>12</td><td>2</td><td>1</td>`)
})

test('an owner of more agents than a page shows reaches all of them', async () => {
  const { browser, page } = await visitor('max')
  const owner = { issuer: login.issuer, subject: 'max', namespace: null }
  const { revision } = await home.gateway.store.write(async (writer) => {
    for (let at = 0; at < 103; at++) {
      const state = at < 101 ? 'ACTIVE' : 'STAGE'
      await writer.put(sampleEntry({ package_name: `com.max.agent-${at}`, owner, state }))
    }
  })
  await home.gateway.tailer.caughtUp(revision)
  const names = ({ links }: Visited) => links.filter((link) => link.startsWith('/me/agents/'))
  const first = await browser.open(page.url)
  expect(names(first)).toHaveLength(102)
  const next = first.links.find((link) => link.startsWith('/me?')) ?? ''
  const second = await browser.open(home.url + next)
  expect(new Set([...names(first), ...names(second)]).size).toBe(103)
  expect(second.links).toContain('/me')
})

test('a key that may do nothing is refused', async () => {
  const { browser } = await visitor('kim', '/me/keys')
  const page = await browser.open(`${home.url}/me/keys`)
  const form = page.forms.at(-1)
  const { scopes: _, ...fields } = form?.fields ?? {}
  const refused = await browser.submit(page, {}, { action: '/me/keys', fields })
  expect([refused.status, refused.text.includes('Choose what the key may do.')]).toEqual([400, true])
})

test('a key that would last too long is refused at its field, in days', async () => {
  const { browser, page } = await visitor('kim', '/me/keys')
  for (const days of ['0', '366', 'soon']) {
    const refused = await browser.submit(page, { days }, page.forms.at(-1))
    expect([refused.status, refused.text.includes('id="f-days-fault">From 1 to 365.<')]).toEqual([400, true])
  }
})

test.each(['/agent/svc.utility.reader', '/search?q=fold+paper&license=mit', '/docs/calling', '/changes'])(
  'who signs in at the head of %s stays there',
  async (path) => {
    const browser = new Browser(home.url)
    const { links } = await browser.open(home.url + path)
    const link = links.find((each) => each.startsWith('/sign-in')) ?? ''
    const back = await signIn(browser, await browser.open(home.url + link))
    expect([back.status, back.url]).toEqual([200, home.url + path])
  },
)

test.each([
  '//evil.example/me',
  'https://evil.example/',
  '/me/../../evil',
  '/me\\evil',
  '/oauth/authorize?x',
])('a sign-in does not lead back to %s', async (then) => {
  const browser = new Browser(home.url)
  const first = await browser.open(`${home.url}/sign-in?then=${encodeURIComponent(then)}`)
  expect(new URL((await signIn(browser, first)).url).pathname).toBe('/me')
})

test('the check of an address says that a name is needed, until one is typed', async () => {
  await using server = await startModernServer()
  await using gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: server.origin }, { logins: [login] })
  const browser = new Browser(gateway.url)
  const page = await signIn(browser, await browser.open(`${gateway.url}/publish`))
  const check = async (package_name: string) => {
    const { text } = await browser.submit(page, { manifest_url: server.url, package_name, do: 'check' })
    return text
  }
  expect(await check('')).toContain('State a package_name')
  const named = await check('acme.tides')
  expect(named).not.toContain('State a package_name')
  expect(named).toContain('<dd dir="ltr">acme.tides</dd>')
})

test('a change of some fields states these alone, and the others still follow the server', async () => {
  await using server = await startModernServer()
  await using gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: server.origin }, { logins: [login] })
  const browser = new Browser(gateway.url)
  const page = await signIn(browser, await browser.open(`${gateway.url}/publish`))
  const name = 'acme.tides'
  const shown = await browser.submit(page, { manifest_url: server.url, package_name: name, do: 'publish' })
  const stated = async () => (await gateway.gateway.store.read.entry({ package_name: name }))?.stated
  const before = await stated()
  const saved = await browser.submit(shown, { tags: 'sea' }, formWith(shown, 'update'))
  expect(saved.text).toContain('Saved.')
  expect(await stated()).toEqual([...(before ?? []), 'tags'])
  const described = await browser.submit(
    saved,
    { description: 'Tides\r\nand moons.' },
    formWith(saved, 'update'),
  )
  expect(await stated()).toEqual([...(before ?? []), 'tags', 'description'])
  const entry = await gateway.gateway.store.read.entry({ package_name: name })
  expect([entry?.tags, entry?.description, entry?.version]).toEqual([['sea'], 'Tides\nand moons.', '1'])

  const named = await browser.submit(
    described,
    { version: '', license: 'MIT' },
    formWith(described, 'update'),
  )
  const unversioned = await gateway.gateway.store.read.entry({ package_name: name })
  expect([unversioned?.version, unversioned?.license]).toEqual([null, 'MIT'])
  const nameless = await browser.submit(named, { name: '', license: '' }, formWith(named, 'update'))
  expect(nameless.text).toContain('aria-invalid="true"')
  await browser.submit(nameless, { name: 'Tides' }, formWith(nameless, 'update'))
  const bare = await gateway.gateway.store.read.entry({ package_name: name })
  expect([bare?.name, bare?.license]).toEqual(['Tides', null])
})

test('the page of an own package leads to the way in which each host uses it', async () => {
  const packages = [{ registry_type: 'npm', identifier: '@acme/tides' }]
  const params = { package_name: 'acme.tides', name: 'Tides', description: 'Tides.', packages }
  const { signal } = new AbortController()
  await home.gateway.dispatch(
    { to: 'svc.registry', action: 'publish', params },
    { principal: localPrincipal, client: 'local', signal },
  )
  const browser = new Browser(home.url)
  await signInOperator(home, browser)
  const { text } = await browser.open(`${home.url}/me/agents/acme.tides`)
  expect(text).toContain('see <a href="/agent/acme.tides#use">Use it</a>.')
})

test("a name of one's own is refused with the place where its agent is changed", async () => {
  const { browser, page } = await visitor('uma', '/publish?way=form')
  const own = { ...agent, package_name: 'com.eva-weather.forecast', do: 'publish' }
  await browser.submit(page, own)
  const again = await browser.submit(await browser.open(page.url), own)
  expect([again.status, again.text.includes('Change the agent on its page, under Your agents.')]).toEqual([
    409,
    true,
  ])
})

test('an owner offers an agent by a form, withdraws the offer, and the receiver accepts another', async () => {
  const { browser: owner, page } = await visitor('una', '/publish?way=form')
  const package_name = 'com.una-weather.forecast'
  const staged = await owner.submit(page, { ...agent, package_name, do: 'publish' })
  const offer = (from: Visited) => owner.submit(from, { subject: 'vic' }, formWith(from, 'transfer'))
  const offered = await offer(staged)
  expect(offered.text).toContain('It is offered to <code>vic</code>')
  const withdrawn = await owner.submit(offered, {}, formWith(offered, 'withdraw'))
  expect(withdrawn.text).toContain('The offer is withdrawn.')
  await offer(withdrawn)
  const { browser: receiver, page: mine } = await visitor('vic')
  expect(mine.text).toContain('Subject <code>vic</code>')
  const accepted = await receiver.submit(mine, {}, formWith(mine, package_name, 'agent'))
  expect(accepted.text).toContain('The agent is yours.')
  expect((await owner.open(`${home.url}/me/agents/${package_name}`)).status).toBe(404)
})

test.each([
  [
    { openapi: '3.1.0', info: { title: 'Tides', version: '1' } },
    'Put an MCP server or an A2A agent before the API',
  ],
  [
    { $schema: 'https://static.example/server.schema.json', name: 'a/b', description: 'Tides.' },
    'dragoman publish',
  ],
])('a document that is no card is named as what it is, with what to publish: %j', async (card, text) => {
  const { browser, page } = await visitor('yan', '/publish?way=card')
  for (const action of ['check', 'publish']) {
    const shown = await browser.submit(page, {
      card: JSON.stringify(card),
      package_name: 'com.fay.x',
      do: action,
    })
    expect(shown.text).toContain('It cannot be listed yet.')
    expect(shown.text).toContain(text)
  }
})

test('a person takes an agent through its whole life by forms alone', async () => {
  const { browser, page } = await visitor('ada', '/publish?way=form')
  const checked = await browser.submit(page, { ...agent, description: '', do: 'check' })
  expect(checked.text).toContain('It cannot be listed yet.')
  expect(checked.text).toContain('/description')
  expect(checked.text).toContain('value="com.ada-weather.forecast"')

  const staged = await browser.submit(page, { ...agent, do: 'publish' })
  expect(staged.url).toBe(`${home.url}/me/agents/com.ada-weather.forecast?done=publish`)
  expect(staged.text).toContain('It is listed in STAGE')
  expect((await browser.open(`${home.url}/me`)).text).toContain('In STAGE')

  const early = await browser.submit(staged, {}, formWith(staged, 'live'))
  expect([early.status, early.text.includes('role="alert"')]).toEqual([403, true])

  const asks = await browser.open(`${home.url}/me/verify?agent=${agent.package_name}`)
  const shown = await browser.submit(asks)
  const [, value = ''] = /id="proof-dns" tabindex="0"><code>([^<]+)</.exec(shown.text) ?? []
  const [, name = ''] = /<dd class="mono">(\S+) TXT</.exec(shown.text) ?? []
  dns.txt(name, value)
  const verified = await browser.submit(shown)
  expect(verified.text).toContain('The domain is proved.')
  expect(verified.text).toContain('Domain verified')

  const live = await browser.submit(verified, {}, formWith(verified, 'live'))
  expect(live.text).toContain('It is live: everybody finds it.')
  const found = await home.request('GET', '/search?q=forecast', { headers: { Accept: 'text/html' } })
  expect(found.text).toContain('/agent/com.ada-weather.forecast')

  const edit = formWith(live, 'update')
  const fields = { description: 'Rain and sun.', version: '1.0.0', tags: 'weather', category: 'weather' }
  const changed = await browser.submit(live, { name: 'Forecast', ...fields }, edit)
  expect(changed.text).toContain('Saved.')
  const stale = await browser.submit(live, { name: 'Other', ...fields }, edit)
  expect([stale.status, stale.text.includes('precondition_failed')]).toEqual([412, true])
  expect(stale.text).toContain('value="Other"')

  const badMove = await browser.submit(
    changed,
    { version: '1.1.0', endpoint: 'nowhere' },
    formWith(changed, 'update'),
  )
  expect(badMove.text).toContain('id="f-endpoint-fault"')
  const moved = await browser.submit(
    changed,
    { version: '1.1.0', endpoint: 'https://ada-weather.com/v2', protocol: 'a2a' },
    formWith(changed, 'update'),
  )
  expect(moved.text).toContain('Saved.')
  const { endpoints } = (await home.request('GET', `/public/agents/${agent.package_name}`)).json
  expect(endpoints).toEqual([{ protocol: 'a2a', url: 'https://ada-weather.com/v2' }])

  const deprecated = await browser.submit(moved, { message: 'Look out.' }, formWith(moved, 'deprecate'))
  expect(deprecated.text).toContain('It is deprecated.')
  const restored = await browser.submit(deprecated, {}, formWith(deprecated, 'restore'))
  const offline = await browser.submit(restored, {}, formWith(restored, 'stage'))
  expect(offline.text).toContain('It is back in STAGE')
  const deleted = await browser.submit(offline, {}, formWith(offline, 'delete'))
  expect(deleted.text).toContain('The agent is deleted.')
  expect((await browser.open(`${home.url}/me`)).text).toContain('You have no agents here yet.')
}, 30_000)

test('of two owners who change an agent, the later one sees what was typed, and the change of the other', async () => {
  const team = ['com.team']
  const { browser: ann, page } = await visitor('ann', '/publish?way=form', team)
  const staged = await ann.submit(page, { ...agent, package_name: 'com.team.forecast', do: 'publish' })
  const { browser: ben, page: shown } = await visitor('ben', '/me/agents/com.team.forecast', team)
  expect(shown.status).toBe(200)
  const fields = { version: '1.0.0', tags: '', category: '' }
  const byAnn = { ...fields, name: 'Of Ann', description: 'By Ann.' }
  const byBen = { ...fields, name: 'Of Ben', description: 'By Ben.' }
  await ann.submit(staged, byAnn, formWith(staged, 'update'))
  const late = await ben.submit(shown, byBen, formWith(shown, 'update'))
  expect([late.status, late.text.includes('precondition_failed')]).toEqual([412, true])
  expect(late.text).toContain('<h1 dir="auto">Of Ann</h1>')
  expect(late.text).toContain('value="Of Ben"')
  await ben.submit(late, byBen, formWith(late, 'update'))
  expect((await ann.open(`${home.url}/me/agents/com.team.forecast`)).text).toContain('By Ben.')
})

test('an agent is published from a pasted card, and what is wrong with the card is said', async () => {
  const { browser, page } = await visitor('bea', '/publish?way=card')
  const broken = await browser.submit(page, { card: '{"name": ', do: 'publish' })
  expect([broken.status, broken.text.includes('This is not valid JSON.')]).toEqual([400, true])
  expect(broken.text).toContain('{&quot;name&quot;:')
  const incomplete = await browser.submit(page, { card: '{"name": "Tides"}', do: 'publish' })
  expect(incomplete.text).toContain('It cannot be listed yet.')
  const card = {
    name: 'Tides',
    description: 'When the water comes.',
    version: '2.0.0',
    url: 'https://tides.example/a2a',
    skills: [{ id: 'next', name: 'Next tide', description: 'The next tide.', tags: ['sea'] }],
  }
  const staged = await browser.submit(page, {
    card: JSON.stringify(card),
    package_name: 'com.example.tides',
    do: 'publish',
  })
  expect(staged.url).toContain('/me/agents/com.example.tides?done=publish')
  expect(staged.text).toContain('2.0.0')
})

test('a key is shown once, works, and is deleted', async () => {
  const { browser, page } = await visitor('cai', '/me/keys')
  const made = await browser.submit(page, { label: 'nightly', scopes: 'agents:read', days: '7' })
  const [, key = ''] = /(drg_[\w-]+_[\w-]{43})/.exec(made.text) ?? []
  const answer = await home.request('GET', '/api/keys', { token: key })
  expect(answer.json.keys).toMatchObject([{ label: 'nightly', scopes: ['agents:read'] }])
  const listed = await browser.open(`${home.url}/me/keys`)
  expect(listed.text).not.toContain(key)
  expect(listed.text).not.toContain('not valid')
  const refused = await browser.submit(page, { label: 'x'.repeat(200), scopes: 'agents:read' })
  expect([refused.status, refused.text.includes('x'.repeat(200))]).toEqual([400, true])
  await browser.submit(listed, {}, formWith(listed, 'delete'))
  expect((await home.request('GET', '/api/keys', { token: key })).status).toBe(401)
})

test('a form that is sent twice is done once, and the second answer says what the first did', async () => {
  const { browser, page } = await visitor('ari', '/me/keys')
  const typed = { label: 'twice', scopes: 'agents:read' }
  const [first, second] = await Promise.all([browser.submit(page, typed), browser.submit(page, typed)])
  const keyIn = ({ text }: Visited) => /drg_[\w-]+_[\w-]{43}/.exec(text)?.[0]
  expect(keyIn(first)).toBeDefined()
  expect(keyIn(second)).toBe(keyIn(first))
  const listed = await browser.open(`${home.url}/me/keys`)
  expect(listed.text.match(/>twice</g)).toHaveLength(1)
  // What was typed anew is another key, and so is the same in the form of another page.
  expect(keyIn(await browser.submit(page, { ...typed, label: 'other' }))).not.toBe(keyIn(first))
  expect(keyIn(await browser.submit(listed, typed))).not.toBe(keyIn(first))

  const publish = await browser.open(`${home.url}/publish?way=form`)
  const stated = { ...agent, package_name: 'com.example.ari', do: 'publish' }
  const published = await browser.submit(publish, stated)
  expect((await browser.submit(publish, stated)).url).toBe(published.url)
  const change = formWith(published, 'deprecate')
  const changed = await browser.submit(published, { message: 'Use another one.' }, change)
  const again = await browser.submit(published, { message: 'Use another one.' }, change)
  expect([again.status, again.url]).toEqual([200, changed.url])
})

test('a form that was refused, or whose browser left before the answer, is sent again', async () => {
  const { browser, page } = await visitor('bea', '/publish?way=form')
  const stated = { ...agent, package_name: 'com.example.bea', do: 'publish' }
  const taken = { ...stated, package_name: 'com.ben-rain.counted' }
  expect((await browser.submit(page, taken)).status).toBe(409)
  expect((await browser.submit(page, taken)).status).toBe(409)

  const cookie = ['dragoman-session', 'dragoman-form'].map((name) => `${name}=${browser.cookie(name)}`)
  const left = httpRequest(`${home.url}/publish`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', Cookie: cookie.join('; ') },
  })
  left.on('error', () => {})
  const { store } = home.gateway
  const isStored = expect.poll(() => store.read.entry({ package_name: 'com.example.bea' })).toBeDefined()
  left.end(new URLSearchParams({ ...page.forms[0]?.fields, ...stated }).toString(), () => left.destroy())
  await isStored
  expect((await browser.submit(page, stated)).url).toContain('/me/agents/com.example.bea?done=publish')
})

test('a key of somebody whose credentials were revoked is shown as not valid, and why', async () => {
  const { browser, page } = await visitor('uma', '/me/keys')
  await browser.submit(page, { label: 'nightly', scopes: 'agents:read', days: '7' })
  const token = await home.token('root', { scopes: ['admin'] })
  const { keys } = (await home.request('GET', '/api/keys', { token })).json
  const { issuer, subject } = keys.find(({ label }: { label: string }) => label === 'nightly')
  const params = { issuer, subject, reason: 'Left the team.' }
  const body = { to: 'svc.registry', action: 'revoke', params }
  expect((await home.request('POST', '/a2a/message', { token, body })).status).toBe(200)
  const again = await visitor('uma', '/me/keys')
  expect(again.page.text).toMatch(
    /not valid: all that was issued to its owner was revoked, .*\(Left the team\.\)/,
  )
})

test('a webhook is created, paused, delivered again from a revision, and deleted', async () => {
  const { browser, page } = await visitor('dov', '/me/webhooks')
  const made = await browser.submit(page, { url: 'https://hooks.example.com/x', kinds: 'listed' })
  expect(made.text).toMatch(/whsec_/)
  const off = await browser.submit(made, {}, formWith(made, 'disable'))
  expect(off.text).toContain('The webhook is off.')
  const again = await browser.submit(off, { since: '0' }, formWith(off, 'repeat'))
  expect(again.text).toContain('Delivered up to revision 0')
  const refused = await browser.submit(again, { since: '999999' }, formWith(again, 'repeat'))
  expect(refused.status).toBe(400)
  const gone = await browser.submit(again, {}, formWith(again, 'delete'))
  expect(gone.text).not.toContain('hooks.example.com')
})

test('what is stored of a person is downloaded, and deleted after a word', async () => {
  const { browser, page } = await visitor('eva', '/publish?way=form')
  await browser.submit(page, { ...agent, package_name: 'com.example.eva', do: 'publish' })
  const copy = await browser.open(`${home.url}/me/data.json`)
  expect(copy.headers.get('content-disposition')).toBe('attachment; filename="dragoman.json"')
  const tables = JSON.parse(copy.text)
  expect(Object.keys(tables)).toEqual(PersonalTable.options)
  expect(tables.entries).toHaveLength(1)
  expect(copy.headers.get('content-length')).toBeNull()
  expect(copy.text).toContain('com.example.eva')
  const data = await browser.open(`${home.url}/me/data`)
  expect(data.text).toContain(' of 64 MiB')
  const resend = await browser.submit(data, { confirm: 'no' })
  expect([resend.status, resend.text.includes('Nothing was deleted.')]).toEqual([400, true])
  await browser.submit(data, { confirm: 'delete' })
  const { browser: later } = await visitor('eva')
  expect((await later.open(`${home.url}/me`)).text).toContain('You have no agents here yet.')
})

test('packages are approved by the operator alone', async () => {
  const { browser, page } = await visitor('fay', '/me/packages')
  expect(page.text).toContain('dragoman allow PACKAGE')
  const data = await browser.open(`${home.url}/me/data`)
  const token = data.forms[0]?.fields.token ?? ''
  const forged = await browser.post(`${home.url}/me/packages`, { token, agent: 'x', do: 'approve' })
  expect([forged.status, forged.text.includes('<code>forbidden</code>')]).toEqual([403, true])
})

test('the operator approves packages, and makes no key with the rights of the operator', async () => {
  const browser = new Browser(home.url)
  await signInOperator(home, browser)
  const packages = await browser.open(`${home.url}/me/packages`)
  expect(packages.text).toContain('Approve a package')
  const keys = await browser.open(`${home.url}/me/keys`)
  const refused = await browser.submit(keys, { label: 'lasting', scopes: 'admin' })
  expect([refused.status, refused.text.includes('<code>forbidden</code>')]).toEqual([403, true])
  expect((await browser.open(`${home.url}/me/keys`)).text).not.toContain('lasting')
})

test('the operator sees at the status why the gateway needs them, and nobody else does', async () => {
  const browser = new Browser(home.url)
  await signInOperator(home, browser)
  expect((await browser.open(`${home.url}/status`)).text).toContain('For admins')
  const { browser: other } = await visitor('zoe')
  expect((await other.open(`${home.url}/status`)).text).not.toContain('For admins')
})

test('what the command line of this machine publishes belongs to the person whom it signs in', async () => {
  const endpoints = [{ protocol: 'mcp', url: 'https://from-here.example.com/mcp' }]
  const params = { package_name: 'com.example.from-here', name: 'Local', description: 'Adds.', endpoints }
  const { signal } = new AbortController()
  await home.gateway.dispatch(
    { to: 'svc.registry', action: 'publish', params },
    { principal: localPrincipal, client: 'local', signal },
  )
  const browser = new Browser(home.url)
  const first = await signInOperator(home, browser)
  expect(first.text).toContain('com.example.from-here')
  expect((await visitor('ben')).page.text).not.toContain('com.example.from-here')
})

describe('a form', () => {
  test('that another site sends does nothing', async () => {
    const { browser } = await visitor('gus')
    const fields = { label: 'stolen', scopes: 'agents:read', token: 'guess' }
    const headers = { 'Sec-Fetch-Site': 'cross-site' }
    for (const sent of [headers, {}]) {
      const answer = await browser.post(`${home.url}/me/keys`, fields, sent)
      expect([answer.status, answer.text.includes('stolen')]).toEqual([403, false])
    }
    expect((await browser.open(`${home.url}/me/keys`)).text).not.toContain('stolen')
  })

  test('of a session that has ended is shown again, and sent as the person who signs in', async () => {
    const { browser, page } = await visitor('hal', '/publish?way=form')
    const filled = { ...page.forms[0]!.fields, ...agent, package_name: 'com.example.hal', do: 'publish' }
    browser.forget()
    const own = { 'Sec-Fetch-Site': 'same-origin' }
    const resend = await browser.post(`${home.url}/publish`, filled, own)
    expect([resend.status, resend.text.includes('com.example.hal')]).toEqual([403, true])
    expect(resend.text).toContain('nothing that you typed is lost')
    await signIn(browser, await browser.open(`${home.url}/sign-in`))
    const offered = await browser.post(`${home.url}/publish`, resend.forms[0]!.fields, own)
    expect(offered.text).toContain('You are signed in as <strong>hal</strong>')
    const staged = await browser.post(`${home.url}/publish`, offered.forms[0]!.fields, own)
    expect(staged.url).toContain('/me/agents/com.example.hal')
  })

  test('of one person does nothing for another one in the same browser', async () => {
    const { browser, page } = await visitor('ida', '/me/keys')
    login.person = { ...login.person, subject: 'jon', name: 'jon' }
    await browser.submit(await browser.open(`${home.url}/sign-in`))
    await signIn(browser, await browser.open(`${home.url}/sign-in`))
    const answer = await browser.submit(page, { label: 'x', scopes: 'agents:read' })
    expect(answer.status).toBe(403)
    expect((await browser.open(`${home.url}/me/keys`)).text).not.toContain('agents:read ·')
  })
})

test("the cookie of the page counts at no other transport, and the page of somebody else's agent is theirs", async () => {
  const { browser } = await visitor('kim', '/publish?way=form')
  const cookie = `dragoman-session=${browser.cookie('dragoman-session')}`
  for (const path of ['/api/keys', '/api/personal-data', '/api/webhooks']) {
    expect((await home.request('GET', path, { headers: { Cookie: cookie } })).status).toBe(401)
  }
  const { browser: other, page } = await visitor('lea', '/publish?way=form')
  await other.submit(page, { ...agent, package_name: 'com.example.lea', do: 'publish' })
  expect((await browser.open(`${home.url}/me/agents/com.example.lea`)).status).toBe(404)
})

test('the forms of one page share one cookie, and all of them are valid', async () => {
  const { browser } = await visitor('mia', '/sign-in?then=/search')
  const before = browser.setCookies.length
  const page = await browser.open(`${home.url}/me/connections`)
  const own = page.forms.map(({ fields }) => fields.token)
  expect([own.length, new Set(own).size, browser.setCookies.length - before]).toEqual([2, 1, 1])
})

test.each(['/me/%2e%2e/evil', '/docs/.%2E/%2e./evil'])('a sign-in does not lead back to %s', async (then) => {
  const browser = new Browser(home.url)
  const first = await browser.open(`${home.url}/sign-in?then=${encodeURIComponent(then)}`)
  expect((await signIn(browser, first)).url).toBe(`${home.url}/me`)
})

describe('a form that is shown again', () => {
  const own = { 'Sec-Fetch-Site': 'same-origin' }

  test('does not show a secret that was typed', async () => {
    const answer = await new Browser(home.url).post(
      `${home.url}/me/connections`,
      { token: 'old', do: 'store', agent: 'com.example.mail', value: 'hunter2' },
      own,
    )
    expect(answer.forms[0]?.fields.value).toBe('hunter2')
    expect(answer.text).not.toContain('<dd>hunter2</dd>')
  })

  test('has no more fields than a form of ours', async () => {
    const answer = await home.request('POST', '/publish', {
      body: `token=old${'&a'.repeat(100_000)}`,
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...own },
    })
    expect(answer.status).toBe(413)
    expect(answer.text.length).toBeLessThan(10_000)
  })
})

test('a form does nothing in a session that ends while its body arrives', async () => {
  const { browser, page } = await visitor('nia', '/me/keys')
  const names = ['dragoman-session', 'dragoman-form']
  const body = new URLSearchParams({
    ...page.forms[0]?.fields,
    label: 'late',
    scopes: 'agents:read',
  }).toString()
  const request = httpRequest(`${home.url}/me/keys`, {
    method: 'POST',
    headers: {
      Cookie: names.map((name) => `${name}=${browser.cookie(name)}`).join('; '),
      'Content-Type': 'application/x-www-form-urlencoded',
      'Content-Length': body.length,
    },
  })
  const [first, rest] = [body.slice(0, 10), body.slice(10)]
  await new Promise<void>((resolve) => request.write(first, () => resolve()))
  await browser.submit(await browser.open(`${home.url}/sign-in`))
  const answer = once(request, 'response')
  request.end(rest)
  const [{ statusCode }] = (await answer) as [IncomingMessage]
  expect(statusCode).toBe(403)
})

test('an application that waits does not renew the rights of the operator', async () => {
  const begin = Date.now()
  await using here = await startGateway({}, { clock: () => Date.now() })
  const browser = new Browser(here.url)
  const waiting = await browser.open(authorizationRequest(here, await register(here)).url)
  await signInOperator(here, browser)
  const minute = 60_000
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    vi.setSystemTime(begin + 25 * minute)
    expect((await browser.open(`${here.url}/me/packages`)).text).not.toContain('dragoman allow PACKAGE')
    const consent = await browser.open(waiting.links.at(-1) ?? '')
    expect(consent.text).toContain('Test client')
    vi.setSystemTime(begin + 62 * minute)
    const later = await browser.open(`${here.url}/me/packages`)
    expect(later.text).toContain('You, on this machine')
    expect(later.text).toContain('dragoman allow PACKAGE')
  } finally {
    vi.useRealTimers()
  }
})

test('an answer that is cut within a string is drawn in linear time', () => {
  const cut = JSON.stringify({ say: '"'.repeat(60_000) }).slice(0, 100_000)
  expect(colouredJson(cut).html).toMatch(/^\{&quot;say&quot;:<span class="string">/)
  for (const end of ['{"a": "x\\', '"\\\n', '{}', '']) {
    expect(colouredJson(end).html.replace(/<[^>]*>/g, '')).toBe(end.replaceAll('"', '&quot;'))
  }
})

test('a session ends with the login at which it began', async () => {
  await using folder = await temporaryFolder()
  const environment = { DRAGOMAN_DATA: folder.path }
  let session = ''
  {
    await using here = await startGateway(environment, { logins: [instantLogin()] })
    const browser = new Browser(here.url)
    await signIn(browser, await browser.open(`${here.url}/me`))
    session = browser.cookie('dragoman-session') ?? ''
  }
  const other = { ...instantLogin(), id: 'other', title: 'Other', issuer: 'https://other.example' }
  await using here = await startGateway(environment, { logins: [other] })
  const browser = new Browser(here.url)
  browser.plant('dragoman-session', session)
  const page = await browser.open(`${here.url}/me`)
  expect(page.text).toContain('Continue with Other')
})

test('a copy of many rows is sent as it is read, page by page', async () => {
  const { browser, page } = await visitor('hal', '/publish?way=form')
  await browser.submit(page, { ...agent, package_name: 'com.example.hal', do: 'publish' })
  const { store } = home.gateway
  const owner = (await store.read.entry({ package_name: 'com.example.hal' }))?.owner ?? null
  await store.write(async (writer) => {
    for (let at = 0; at < 150; at++)
      await writer.put(sampleEntry({ package_name: `com.example.hal${at}`, owner, state: 'STAGE' }))
  })
  const copy = await browser.open(`${home.url}/me/data.json`)
  const { entries } = JSON.parse(copy.text)
  expect(entries).toHaveLength(151)
  expect(new Set(copy.text.match(/com\.example\.hal\d+/g)).size).toBe(150)
})
