import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { decodeJwt } from 'jose'
import { afterAll, describe, expect, test } from 'vitest'
import { createAdapter } from '../../src/auth/authorization-server/adapter.ts'
import { createLoginLink } from '../../src/auth/authorization-server/login-link.ts'
import { createRecords } from '../../src/auth/authorization-server/records.ts'
import { createVault } from '../../src/auth/vault.ts'
import { Browser, type Visited } from '../support/browser.ts'
import { startGateway } from '../support/gateway.ts'
import {
  allowed,
  authorizationRequest,
  exchange,
  instantLogin,
  redirectUri,
  refresh,
  register,
  signIn,
  tokensFor,
} from '../support/sign-in.ts'
import { openSocket } from '../support/socket.ts'

const login = instantLogin()
const home = await startGateway({}, { logins: [login] })
const client = await register(home)
const other = await register(home, { client_name: 'Other client' })
afterAll(() => home[Symbol.asyncDispose]())

const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
const isAccepted = async (token: string) =>
  (await home.request('POST', '/mcp', { token, body: list })).status !== 401
const isHere = ({ url }: Visited) => url.startsWith(`${home.url}/`)

/** A browser that is signed in, at the consent page of a request. */
async function atConsent(changes = {}, at = client) {
  const browser = new Browser(home.url)
  const { url, verifier } = authorizationRequest(home, at, changes)
  const page = await signIn(browser, await browser.open(url))
  return { browser, page, verifier }
}

async function codeOf(changes = {}) {
  const { url, verifier } = authorizationRequest(home, client, changes)
  const end = await allowed(new Browser(home.url), url)
  return { code: end.searchParams.get('code') ?? '', verifier }
}

describe('a redirect address', () => {
  test.each([
    ['that is not registered', 'https://evil.example/callback'],
    ['that only begins alike', `${redirectUri}/more`],
    ['with a query more', `${redirectUri}?next=https://evil.example`],
    ['of another path', 'http://127.0.0.1:3999/'],
    ['of another loopback name', 'http://localhost:3999/callback'],
    ['of a host that begins alike', 'http://127.0.0.1.evil.example:3999/callback'],
    ['with a user name', 'http://127.0.0.1:3999@evil.example/callback'],
    ['with a fragment', `${redirectUri}#x`],
    ['that climbs', 'http://127.0.0.1:3999/x/../callback/../evil'],
    ['that is a script', 'javascript:alert(1)'],
    ['that is data', 'data:text/html,x'],
    ['that is relative', '//evil.example/callback'],
    ['that is missing', ''],
  ])('%s is answered with a page', async (_, redirect_uri) => {
    const { url } = authorizationRequest(home, client, { redirect_uri })
    const page = await new Browser(home.url).open(url)
    expect([page.status, isHere(page)]).toEqual([400, true])
    expect(page.links.filter((link) => link !== '/')).toEqual([])
  })

  test('on loopback may have any port (RFC 8252), and the code then needs the same one', async () => {
    const redirect_uri = redirectUri.replace('3999', '4001')
    const { url, verifier } = authorizationRequest(home, client, { redirect_uri })
    const end = await allowed(new Browser(home.url), url)
    expect(end.port).toBe('4001')
    const code = end.searchParams.get('code') ?? ''
    expect((await exchange(home, client, code, verifier)).json.error).toBe('invalid_grant')
  })

  test.each([
    [['javascript:alert(1)']],
    [['data:text/html,x']],
    [['vbscript:x']],
    [['view-source:https://evil.example']],
    [['http://evil.example/callback']],
    [['https://user@evil.example/']],
    [['https://a.example/#fragment']],
    [['/callback']],
    [[]],
    [undefined],
    ['https://a.example'],
    [Array.from({ length: 11 }, (_, at) => `https://a.example/${at}`)],
    [[redirectUri, 'file:///etc/passwd']],
  ])('%j is not registered', async (redirect_uris) => {
    const { status, json } = await home.request('POST', '/oauth/register', { body: { redirect_uris } })
    expect([status, json.error]).toEqual([400, 'invalid_redirect_uri'])
  })

  test('of an own scheme of an application is registered, and named on the consent page', async () => {
    const app = await register(home, { redirect_uris: ['com.example.app:/callback'] })
    const { page } = await atConsent({}, app)
    expect(page.text).toContain('com.example.app:')
    expect(page.headers.get('content-security-policy')).toContain("form-action 'self' com.example.app:;")
  })
})

describe('a code', () => {
  test('is good once; a second use ends every token of the first', async () => {
    const { code, verifier } = await codeOf()
    const first = (await exchange(home, client, code, verifier)).json
    expect(await isAccepted(first.access_token)).toBe(true)
    await using peer = await openSocket(`${home.url}/mcp/ws`, ['mcp', `bearer.${first.access_token}`])
    const closed = once(peer.socket, 'close')
    expect((await exchange(home, client, code, verifier)).json.error).toBe('invalid_grant')
    expect(await isAccepted(first.access_token)).toBe(false)
    expect((await refresh(home, client, first.refresh_token)).json.error).toBe('invalid_grant')
    expect((await closed)[0]).toBe(1008)
  })

  test('that several requests exchange at once gives at most one token', async () => {
    const { code, verifier } = await codeOf()
    const answers = await Promise.all(Array.from({ length: 8 }, () => exchange(home, client, code, verifier)))
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1)
  })

  test('is consumed by one of two requests that have both found it', async () => {
    const { store } = home.gateway
    const records = createRecords(store.signIn, createVault(randomBytes(32)), Date.now)
    const options = { records, clock: Date.now, endTokens: () => Promise.resolve() }
    const [first, second] = [1, 2].map(() => createAdapter('AuthorizationCode', options))
    await first?.upsert('code', { grantId: 'grant' }, 60)
    await first?.consume('code')
    await expect(second?.consume('code')).rejects.toMatchObject({ error: 'invalid_grant' })
  })

  test('of one client is nothing to another', async () => {
    const { code, verifier } = await codeOf()
    expect((await exchange(home, other, code, verifier)).json.error).toBe('invalid_grant')
    expect((await exchange(home, client, 'A'.repeat(43), verifier)).json.error).toBe('invalid_grant')
  })

  test.each([
    ['without a verifier', ''],
    ['with a wrong verifier', 'x'.repeat(43)],
    ['with a short verifier', 'x'],
  ])('%s is refused', async (_, code_verifier) => {
    const { code } = await codeOf()
    const answer = await exchange(home, client, code, code_verifier)
    expect(answer.status).toBe(400)
    expect(answer.json.error).toMatch(/^invalid_(grant|request)$/)
  })

  test.each([
    ['no challenge', { code_challenge: '', code_challenge_method: '' }],
    ['a plain challenge', { code_challenge: 'x'.repeat(43), code_challenge_method: 'plain' }],
    ['a challenge without a method', { code_challenge_method: '' }],
    ['an unknown method', { code_challenge_method: 'S512' }],
    ['the implicit flow', { response_type: 'token' }],
    ['an ID token', { response_type: 'code id_token' }],
    ['a form as its answer', { response_mode: 'form_post' }],
    ['a fragment as its answer', { response_mode: 'fragment' }],
    ['a request object', { request: 'eyJhbGciOiJub25lIn0.e30.' }],
    ['an address of a request object', { request_uri: 'https://evil.example/request' }],
  ])('is not issued for a request with %s', async (_, changes) => {
    const page = await new Browser(home.url).open(authorizationRequest(home, client, changes).url)
    expect([page.status, isHere(page)]).toEqual([400, true])
    expect(page.text).not.toContain('/with/')
  })

  test('arrives with the issuer, so that a client notices a mix-up (RFC 9207); a refusal too', async () => {
    const { url } = authorizationRequest(home, client)
    expect((await allowed(new Browser(home.url), url)).searchParams.get('iss')).toBe(home.url)
    const { browser, page } = await atConsent()
    const refused = new URL((await browser.submit(page, { decision: 'deny' })).url)
    expect(Object.fromEntries(refused.searchParams)).toMatchObject({
      error: 'access_denied',
      iss: home.url,
      state: 'xyz',
    })
  })

  test('is refused to a client by a person who cancels before they sign in', async () => {
    const browser = new Browser(home.url)
    const page = await browser.open(authorizationRequest(home, client).url)
    expect(page.text).toContain('Cancel and go back to 127.0.0.1:3999')
    expect(page.headers.get('content-security-policy')).toContain("form-action 'self' http://127.0.0.1:3999;")
    const refused = new URL((await browser.submit(page, { decision: 'deny' })).url)
    expect(refused.href).toContain('http://127.0.0.1:3999/callback?')
    expect(Object.fromEntries(refused.searchParams)).toMatchObject({ error: 'access_denied', state: 'xyz' })
  })
})

describe('a resource', () => {
  test.each(['https://evil.example/mcp', 'urn:dragoman:all', 'mcp', '/mcp'])(
    '%s that is not one of the gateway is refused',
    async (resource) => {
      const page = await new Browser(home.url).open(authorizationRequest(home, client, { resource }).url)
      expect([page.status, isHere(page)]).toEqual([400, true])
    },
  )

  test.each(['/mcp/else', '/api', '.evil.example/mcp', '/mcp#x', '/MCP'])(
    'that begins alike is refused: %s',
    async (path) => {
      const resource = home.url + path
      const page = await new Browser(home.url).open(authorizationRequest(home, client, { resource }).url)
      expect([page.status, isHere(page)]).toEqual([400, true])
    },
  )

  test('other than the granted one is refused at the exchange and at each refresh', async () => {
    const { code, verifier } = await codeOf()
    const more = { resource: home.url }
    const refused = await exchange(home, client, code, verifier, more)
    expect(refused.json.error).toBe('invalid_target')
    const { refresh_token } = await tokensFor(home, client)
    for (const resource of [home.url, `${home.url}/a2a`, 'https://evil.example'])
      expect((await refresh(home, client, refresh_token, { resource })).json.error).toMatch(/^invalid_/)
  })

  test('of several may be chosen at the exchange, but none more', async () => {
    const both = [`${home.url}/mcp`, `${home.url}/a2a`]
    const all = await tokensFor(home, client, { resource: both })
    expect(decodeJwt(all.access_token).aud).toEqual(both)
    const { code, verifier } = await codeOf({ resource: both })
    const narrow = await exchange(home, client, code, verifier, { resource: `${home.url}/a2a` })
    expect(decodeJwt(narrow.json.access_token).aud).toBe(`${home.url}/a2a`)
    expect(await isAccepted(narrow.json.access_token)).toBe(false)
    const next = await codeOf({ resource: both })
    const resource = [`${home.url}/mcp`, home.url]
    const more = await exchange(home, client, next.code, next.verifier, { resource })
    expect([more.status, more.json.error]).toEqual([400, 'invalid_target'])
  })

  test('is the base URL for a client that names none', async () => {
    const { access_token } = await tokensFor(home, client, { resource: '' })
    expect(decodeJwt(access_token).aud).toBe(home.url)
    expect(await isAccepted(access_token)).toBe(false)
  })
})

test('no client gets operator rights, whatever it requests', async () => {
  const greedy = await register(home, { scope: 'admin agents:read' })
  const { access_token, scope } = await tokensFor(home, greedy, { scope: 'admin agents:read' })
  expect(scope).toBe('agents:read')
  expect(decodeJwt(access_token).scope).toBe('agents:read')
})

describe('an address of the gateway', () => {
  test.each([
    ['state', 'https://evil.example'],
    ['client_id', 'https://evil.example'],
    ['login_hint', 'https://evil.example'],
    ['prompt', 'none'],
    ['prompt', 'create'],
    ['scope', 'https://evil.example'],
    ['return_to', 'https://evil.example'],
    ['max_age', '-1'],
    ['id_token_hint', 'x'],
    ['claims', '{'],
    ['response_type', 'evil'],
  ])('with %s=%s sends no browser elsewhere by itself', async (name, value) => {
    const far = await register(home, { redirect_uris: ['https://evil.example/callback'] })
    const { url } = authorizationRequest(home, far, { [name]: value })
    expect(isHere(await new Browser(home.url).open(url))).toBe(true)
  })

  test.each([
    '/sign-in?next=https://evil.example',
    '/sign-in/link?code=https://evil.example',
    '/sign-in/https%3A%2F%2Fevil.example',
    '/sign-in/x/with/https%3A%2F%2Fevil.example',
    '/sign-in/with/evil',
    '/sign-in/evil/callback?code=x',
    '/oauth/authorize/https%3A%2F%2Fevil.example',
    '/oauth/device?user_code=https://evil.example',
    '/oauth/device/evil',
  ])('is no way elsewhere: %s', async (path) => {
    expect(isHere(await new Browser(home.url).open(home.url + path))).toBe(true)
  })
})

describe('a form', () => {
  test.each<[string, Record<string, string>]>([
    ['no token', { token: '' }],
    ['a made up token', { token: 'A'.repeat(43) }],
  ])('of consent with %s decides nothing', async (_, fields) => {
    const { browser, page } = await atConsent()
    const refused = await browser.submit(page, { decision: 'allow', ...fields })
    expect([refused.status, isHere(refused)]).toEqual([403, true])
  })

  test('of consent with the token of another session decides nothing', async () => {
    const mine = await atConsent()
    const theirs = await atConsent()
    const token = theirs.page.forms[0]?.fields.token ?? ''
    const refused = await mine.browser.submit(mine.page, { decision: 'allow', token })
    expect([refused.status, isHere(refused)]).toEqual([403, true])
  })

  test('that another site posts decides nothing', async () => {
    const { browser, page } = await atConsent()
    const [form] = page.forms
    const url = new URL(form?.action ?? '', page.url).href
    const fields = { ...form?.fields, decision: 'allow' }
    const refused = await browser.post(url, fields, { 'Sec-Fetch-Site': 'cross-site' })
    expect([refused.status, isHere(refused)]).toEqual([403, true])
  })

  test('of consent in another browser decides nothing', async () => {
    const { page } = await atConsent()
    const stranger = new Browser(home.url)
    expect((await stranger.submit(page, { decision: 'allow' })).status).toBe(403)
    const signedIn = await atConsent()
    const own = signedIn.page.forms[0]?.fields.token ?? ''
    const refused = await signedIn.browser.submit(page, { decision: 'allow', token: own })
    expect([refused.status, isHere(refused)]).toEqual([404, true])
  })

  test('of sign-out, of a login link and of a device needs its token', async () => {
    const { browser } = await atConsent()
    const account = await browser.open(`${home.url}/sign-in`)
    expect((await browser.submit(account, { token: '' })).status).toBe(403)
    expect((await browser.open(`${home.url}/sign-in`)).text).toContain('Ada')
    const { store } = home.gateway
    const code = await createLoginLink(store.signIn, Date.now, randomBytes)
    const page = await browser.open(`${home.url}/sign-in/link?code=${code}`)
    expect((await browser.submit(page, { token: '' })).status).toBe(403)
    const device = await browser.open(`${home.url}/oauth/device`)
    const refused = await browser.submit(device, { xsrf: 'x', user_code: 'BBBB-BBBB' })
    expect(refused.text).toContain('not valid any more')
    expect((await browser.submit(account)).text).toContain('signed out')
    expect((await browser.open(`${home.url}/sign-in`)).text).not.toContain('Ada')
  })
})

test('the form of a device that no page has shown to the browser is refused with a page', async () => {
  const answer = await home.request('POST', '/oauth/device', {
    body: 'user_code=BBBB-BBBB&xsrf=x',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  })
  expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8'])
  expect(answer.text).toContain('not valid any more')
})

describe('a page', () => {
  test('stands in no frame, is cached nowhere, and runs no script', async () => {
    const { browser, page } = await atConsent()
    const pages = [
      page,
      await new Browser(home.url).open(authorizationRequest(home, client).url),
      await browser.open(`${home.url}/sign-in`),
      await browser.open(`${home.url}/oauth/device`),
      await browser.open(authorizationRequest(home, client, { response_type: 'x' }).url),
      await browser.open(`${home.url}/sign-in/nothing`),
    ]
    for (const { headers, text } of pages) {
      const policy = headers.get('content-security-policy') ?? ''
      expect(policy).toContain("default-src 'none'")
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy).toContain("form-action 'self'")
      expect(policy).not.toContain('unsafe')
      expect(headers.get('x-frame-options')).toBe('DENY')
      expect(headers.get('cache-control')).toContain('no-store')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(text).not.toMatch(/<script|\son\w+=|javascript:/i)
    }
  })

  test('shows the name of a client as text', async () => {
    const client_name = '<img src=x onerror=alert(1)>"\'&'
    const app = await register(home, { client_name })
    const { page } = await atConsent({}, app)
    expect(page.text).not.toContain('<img')
    expect(page.text).toContain('&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;')
  })

  test('never shows a name that reads in two directions, or is too long', async () => {
    for (const client_name of ['evil\u202Egnp', 'a\nb', 'zero\u200Bwidth', 'x'.repeat(101), 7, '']) {
      const body = { client_name, redirect_uris: [redirectUri] }
      const { status, json } = await home.request('POST', '/oauth/register', { body })
      expect([status, json.error]).toEqual([400, 'invalid_client_metadata'])
    }
  })
})

describe('a session', () => {
  test('has a new secret after sign-in, and a planted one is worth nothing', async () => {
    const browser = new Browser(home.url)
    browser.plant('dragoman-session', 'attacker')
    const page = await browser.open(authorizationRequest(home, client).url)
    await signIn(browser, page)
    const secret = browser.cookie('dragoman-session')
    expect(secret).toMatch(/^[\w-]{20,}$/)
    expect(secret).not.toBe('attacker')
    const thief = new Browser(home.url)
    thief.plant('dragoman-session', 'attacker')
    const account = await thief.open(`${home.url}/sign-in`)
    expect(account.text).toContain('Your session has ended')
  })

  test('has a new secret after each sign-in of the same person', async () => {
    const browser = new Browser(home.url)
    await browser.open(`${home.url}/sign-in/with/example`)
    const first = browser.cookie('dragoman-session') ?? ''
    await browser.open(`${home.url}/sign-in/with/example`)
    expect(browser.cookie('dragoman-session')).not.toBe(first)
    const thief = new Browser(home.url)
    thief.plant('dragoman-session', first)
    expect((await thief.open(`${home.url}/sign-in`)).text).not.toContain('Ada')
  })

  test('counts at no other endpoint', async () => {
    const { browser } = await atConsent()
    const Cookie = `dragoman-session=${browser.cookie('dragoman-session')}`
    for (const [method, path, body] of [
      ['GET', '/api/keys', undefined],
      ['POST', '/api/agents/publish', {}],
      ['POST', '/a2a/discover', { query: 'x' }],
      ['POST', '/a2a/message', { to: 'svc.registry', action: 'list_keys' }],
    ] as const) {
      expect((await home.request(method, path, { body, headers: { Cookie } })).status).toBe(401)
    }
  })

  test('has a cookie that no script and no other site uses', async () => {
    const { browser } = await atConsent()
    const cookies = browser.setCookies.filter((line) => line.startsWith('dragoman-'))
    expect(cookies.length).toBeGreaterThan(3)
    for (const cookie of cookies) {
      expect(cookie.toLowerCase()).toContain('httponly')
      expect(cookie.toLowerCase()).toContain('samesite=lax')
    }
  })
})

describe('the answer of a login', () => {
  test('for another browser signs in neither', async () => {
    const victim = new Browser(home.url)
    const attacker = new Browser(home.url)
    attacker.stops = [`${home.url}/sign-in/example/callback`]
    const page = await attacker.open(authorizationRequest(home, client).url)
    const { url } = await signIn(attacker, page)
    expect(url).toContain('/callback?')
    const refused = await victim.open(url)
    expect(refused.status).toBe(401)
    expect((await victim.open(`${home.url}/sign-in`)).text).not.toContain('Ada')
  })

  test('is good once, and only with its own state', async () => {
    const browser = new Browser(home.url)
    browser.stops = [`${home.url}/sign-in/example/callback`]
    const page = await browser.open(authorizationRequest(home, client).url)
    const { url } = await signIn(browser, page)
    browser.stops = []
    expect((await browser.open(url.replace(/state=\w+/, 'state=x'))).status).toBe(401)
    expect((await browser.open(url)).status).toBe(401)
  })

  test('is not that of another login', async () => {
    const second = { ...instantLogin(), id: 'second' }
    await using both = await startGateway({}, { logins: [login, second] })
    const browser = new Browser(both.url)
    browser.stops = [`${both.url}/sign-in/example/callback`]
    const { url } = await browser.open(`${both.url}/sign-in/with/example`)
    browser.stops = []
    expect((await browser.open(url.replace('/example/', '/second/'))).status).toBe(401)
  })

  test('signs in nobody of another issuer', async () => {
    const imposter = instantLogin()
    imposter.person = { ...imposter.person, issuer: 'urn:dragoman:local', subject: 'person:local' }
    await using odd = await startGateway({}, { logins: [imposter] })
    const browser = new Browser(odd.url)
    const page = await browser.open(`${odd.url}/sign-in`)
    expect((await signIn(browser, page)).status).toBe(401)
  })
})
