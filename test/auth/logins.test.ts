import { describe, expect, test } from 'vitest'
import { readConfig } from '../../src/app/config.ts'
import { openLogins } from '../../src/app/logins.ts'
import { createOutbound } from '../../src/app/outbound.ts'
import { createRuntime } from '../../src/app/runtime.ts'
import type { Login } from '../../src/auth/logins/login.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { Browser } from '../support/browser.ts'
import { startGateway } from '../support/gateway.ts'
import { type LoginIssuer, startGitHub, startOpenIdIssuer } from '../support/login-issuers.ts'

const callback = 'http://127.0.0.1:8080/sign-in/x/callback'

/** The namespaces that accounts hold, as the store remembers them. */
function createHolders() {
  const holders = new Map<string, string>()
  return {
    async settle(name: string, value: string) {
      if (!holders.has(name)) holders.set(name, value)
      return String(holders.get(name))
    },
    get: async (name: string) => holders.get(name),
    set: async () => {},
  }
}

async function openLogin(
  stack: AsyncDisposableStack,
  setting: object,
  settings = createHolders(),
): Promise<Login> {
  const config = readConfig({ DRAGOMAN_LOGINS: JSON.stringify([setting]), DRAGOMAN_DATA: '/nonexistent' })
  const outbound = createOutbound(createRuntime(stack, config, {}))
  const [login] = await openLogins(config, outbound, { settings })
  if (!login) throw new Error('There is no login.')
  return login
}

const openIdSetting = ({ url }: LoginIssuer) => ({
  kind: 'oidc',
  id: 'corp',
  title: 'Example Corp',
  issuer: url,
  client_id: 'dragoman',
  client_secret: 'secret',
})
const gitHubSetting = ({ url }: LoginIssuer) => ({
  kind: 'github',
  url,
  api_url: url,
  namespace: 'io.github',
  client_id: 'dragoman',
  client_secret: 'secret',
})

/** What the browser brings back from the issuer. */
async function visit(url: string): Promise<URL> {
  const { headers } = await fetch(url, { redirect: 'manual' })
  return new URL(String(headers.get('location')))
}

async function logIn(login: Login, change: (returned: URL) => void = () => {}) {
  const { url, state } = await login.begin(callback)
  const returned = await visit(url)
  change(returned)
  return await login.finish(callback, returned, state, new AbortController().signal)
}

describe('a login at an OpenID Connect issuer', () => {
  test('names the person as the issuer does', async () => {
    await using stack = new AsyncDisposableStack()
    const issuer = stack.use(await startOpenIdIssuer())
    const login = await openLogin(stack, openIdSetting(issuer))
    expect(await logIn(login)).toEqual({
      issuer: issuer.url,
      subject: 'ada-1',
      name: 'Ada',
      namespaces: [],
    })
  })

  test.each<[string, LoginIssuer['lies']]>([
    ['of another issuer', { iss: 'https://evil.example' }],
    ['for another client', { aud: 'another' }],
    ['with another nonce', { nonce: 'another' }],
    ['of a person who refused', { error: 'access_denied' }],
  ])('refuses an answer %s', async (_, lies) => {
    await using stack = new AsyncDisposableStack()
    const issuer = stack.use(await startOpenIdIssuer())
    Object.assign(issuer.lies, lies)
    const login = await openLogin(stack, openIdSetting(issuer))
    await expect(logIn(login)).rejects.toMatchObject({ code: 'unauthenticated' })
  })

  test('says that the issuer does not answer', async () => {
    await using stack = new AsyncDisposableStack()
    const issuer = stack.use(await startOpenIdIssuer())
    issuer.lies.status = 503
    const login = await openLogin(stack, openIdSetting(issuer))
    await expect(login.begin(callback)).rejects.toMatchObject({ code: 'unavailable' })
  })

  test('reaches no other private address than that of the issuer', async () => {
    await using stack = new AsyncDisposableStack()
    const [issuer, other] = [stack.use(await startOpenIdIssuer()), stack.use(await startOpenIdIssuer())]
    issuer.lies.token_endpoint = `${other.url}/token`
    const login = await openLogin(stack, openIdSetting(issuer))
    await expect(logIn(login)).rejects.toMatchObject({ code: 'unavailable' })
    expect(other.requests).toBe(0)
  })
})

describe('a login at GitHub', () => {
  test('names the account by its number, with the namespace of its user name', async () => {
    await using stack = new AsyncDisposableStack()
    const github = stack.use(await startGitHub())
    const login = await openLogin(stack, gitHubSetting(github))
    expect(await logIn(login)).toEqual({
      issuer: github.url,
      subject: '1815',
      name: 'Ada',
      namespaces: ['io.github.ada'],
    })
  })

  test('gives the namespace of a user name to no other account that takes the name later', async () => {
    await using stack = new AsyncDisposableStack()
    const github = stack.use(await startGitHub())
    const login = await openLogin(stack, gitHubSetting(github))
    await logIn(login)
    github.user = { id: 2000, login: 'ADA', name: 'Eve' }
    expect(await logIn(login)).toMatchObject({ subject: '2000', namespaces: [] })
    github.user = { id: 1815, login: 'Lovelace', name: 'Ada' }
    expect(await logIn(login)).toMatchObject({ subject: '1815', namespaces: ['io.github.lovelace'] })
  })

  test.each<[string, Record<string, unknown>]>([
    ['no number', { login: 'ada' }],
    ['a number as text', { id: '1815', login: 'ada' }],
    ['a user name that is a path', { id: 1, login: '../ada' }],
  ])('refuses a user with %s', async (_, user) => {
    await using stack = new AsyncDisposableStack()
    const github = stack.use(await startGitHub())
    github.user = user
    const login = await openLogin(stack, gitHubSetting(github))
    await expect(logIn(login)).rejects.toMatchObject({ code: 'unauthenticated' })
  })
})

describe('every login', () => {
  test.each<[string, (returned: URL) => void]>([
    ['another state', (returned) => returned.searchParams.set('state', 'another')],
    ['no state', (returned) => returned.searchParams.delete('state')],
    ['another code', (returned) => returned.searchParams.set('code', 'another')],
    ['two codes', (returned) => returned.searchParams.append('code', 'another')],
    ['no code', (returned) => returned.searchParams.delete('code')],
    ['the name of another issuer', (returned) => returned.searchParams.set('iss', 'https://evil.example')],
  ])('refuses an answer with %s', async (_, change) => {
    await using stack = new AsyncDisposableStack()
    const [issuer, github] = [stack.use(await startOpenIdIssuer()), stack.use(await startGitHub())]
    for (const setting of [openIdSetting(issuer), gitHubSetting(github)]) {
      const login = await openLogin(stack, setting)
      await expect(logIn(login, change)).rejects.toMatchObject({ code: 'unauthenticated' })
    }
  })

  test('redeems a code with its own verifier alone', async () => {
    await using stack = new AsyncDisposableStack()
    const issuer = stack.use(await startOpenIdIssuer())
    const login = await openLogin(stack, openIdSetting(issuer))
    const { url, state } = await login.begin(callback)
    const other = await login.begin(callback)
    const mixed = { ...state, verifier: String(other.state.verifier) }
    const finished = login.finish(callback, await visit(url), mixed, new AbortController().signal)
    await expect(finished).rejects.toMatchObject({ code: 'unauthenticated' })
  })

  test.each([
    ['{', 'It is not JSON'],
    ['{}', 'Give a list'],
    ['[{"kind": "saml"}]', '/0'],
    [
      '[{"kind": "oidc", "id": "a", "title": "A", "issuer": "http://issuer.example", "client_id": "x"}]',
      'https',
    ],
    [
      '[{"kind": "oidc", "id": "link", "title": "A", "issuer": "https://issuer.example", "client_id": "x"}]',
      'taken',
    ],
    ['[{"kind": "github", "client_id": "x"}]', '/0/client_secret'],
    ['/nonexistent/logins.json', 'cannot be read'],
  ])('is refused in the configuration as %s', async (DRAGOMAN_LOGINS, message) => {
    await using stack = new AsyncDisposableStack()
    const config = readConfig({ DRAGOMAN_LOGINS, DRAGOMAN_DATA: '/nonexistent' })
    const outbound = createOutbound(createRuntime(stack, config, {}))
    await expect(openLogins(config, outbound, { settings: createHolders() })).rejects.toThrow(message)
  })
})

test('the log says why a login failed, and whose it was', async () => {
  await using issuer = await startOpenIdIssuer()
  const lines: string[] = []
  const log = createLogger('info', { write: (line) => void lines.push(line) })
  await using home = await startGateway({ DRAGOMAN_LOGINS: JSON.stringify([openIdSetting(issuer)]) }, { log })
  const failures: [LoginIssuer['lies'], number][] = [
    [{ aud: 'another' }, 401],
    [{ error: 'access_denied' }, 401],
    [{ status: 503 }, 503],
  ]
  for (const [lies, expected] of failures) {
    Object.assign(issuer.lies, { aud: undefined, error: undefined }, lies)
    const browser = new Browser(home.url)
    const begun = await browser.open(`${home.url}/sign-in/with/corp`)
    const issuerPage = begun.headers.get('location')
    const { status } = issuerPage === null ? begun : await browser.open((await visit(issuerPage)).href)
    expect(status).toBe(expected)
  }
  const failed = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'login failed')
  expect(failed).toMatchObject([
    { level: 30, login: 'corp', reason: expect.stringContaining('"aud"') },
    { level: 30, login: 'corp', reason: expect.stringContaining('access_denied') },
    { level: 40, login: 'corp', reason: expect.stringContaining('status code') },
  ])
})
