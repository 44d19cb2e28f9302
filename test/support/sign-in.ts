import { createHash, randomBytes } from 'node:crypto'
import { Failure } from '../../schemas/failure.ts'
import { createLoginLink } from '../../src/auth/authorization-server/login-link.ts'
import type { Login, Person } from '../../src/auth/logins/login.ts'
import { Browser, type Visited } from './browser.ts'
import type { Answer, TestGateway } from './gateway.ts'

/** A login whose issuer sends the browser back at once, as the person that is set. */
export function instantLogin(person: Partial<Person> = {}): Login & { person: Person } {
  const issuer = 'https://login.example'
  return {
    id: 'example',
    title: 'Example',
    issuer,
    person: { issuer, subject: 'ada', name: 'Ada', namespaces: ['com.ada'], ...person },
    async begin(callback) {
      const state = randomBytes(8).toString('hex')
      return { url: `${callback}?state=${state}&code=fine`, state: { state } }
    },
    async finish(_callback, returned, { state }) {
      if (returned.searchParams.get('state') === state) return this.person
      throw new Failure('unauthenticated', 'The answer is not of this login.')
    },
  }
}

/** Signs the operator of a gateway in by a link of its machine; returns the page that follows. */
export async function signInOperator(
  { url, gateway }: Pick<TestGateway, 'url' | 'gateway'>,
  browser: Browser,
): Promise<Visited> {
  const code = await createLoginLink(gateway.store.signIn, Date.now, randomBytes)
  return await browser.submit(await browser.open(`${url}/sign-in/link?code=${code}`))
}

export const redirectUri = 'http://127.0.0.1:3999/callback'

interface TestClient {
  readonly id: string
  readonly redirect_uri: string
}

export async function register(
  home: Pick<TestGateway, 'request'>,
  metadata: Readonly<Record<string, unknown>> = {},
): Promise<TestClient> {
  const redirect_uris = [redirectUri]
  const { status, json, text } = await home.request('POST', '/oauth/register', {
    body: { client_name: 'Test client', redirect_uris, ...metadata },
  })
  if (status !== 201) throw new Error(text)
  return { id: json.client_id, redirect_uri: json.redirect_uris[0] }
}

interface AuthorizationRequest {
  readonly url: string
  readonly verifier: string
}

/** The address of an authorization request. An empty parameter is left out. */
export function authorizationRequest(
  home: Pick<TestGateway, 'url'>,
  client: TestClient,
  changes: Readonly<Record<string, string | readonly string[]>> = {},
): AuthorizationRequest {
  const verifier = randomBytes(32).toString('base64url')
  const parameters = {
    response_type: 'code',
    client_id: client.id,
    redirect_uri: client.redirect_uri,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    scope: 'agents:read a2a:call',
    resource: `${home.url}/mcp`,
    state: 'xyz',
    ...changes,
  }
  const pairs = Object.entries(parameters).flatMap(([name, value]) =>
    [value].flat().map((each) => [name, each] as [string, string]),
  )
  const query = new URLSearchParams(pairs.filter(([, value]) => value !== ''))
  return { url: `${home.url}/oauth/authorize?${query}`, verifier }
}

/** Signs in by the first login of the page. */
export async function signIn(browser: Browser, page: Visited): Promise<Visited> {
  const link = page.links.find((href) => href.includes('/with/'))
  if (!link) throw new Error(`The page has no login: ${page.status} ${page.text}`)
  return await browser.open(link)
}

/** Opens a request, signs in where that is asked for, and allows it; returns where the browser is sent. */
export async function allowed(browser: Browser, url: string): Promise<URL> {
  let page = await browser.open(url)
  if (page.links.some((href) => href.includes('/with/'))) page = await signIn(browser, page)
  const end = await browser.submit(page, { decision: 'allow' })
  return new URL(end.url)
}

export async function postForm(
  home: Pick<TestGateway, 'request'>,
  path: string,
  fields: Readonly<Record<string, string | readonly string[]>>,
): Promise<Answer> {
  const pairs = Object.entries(fields).flatMap(([name, value]) =>
    [value].flat().map((each) => [name, each] as [string, string]),
  )
  return await home.request('POST', path, {
    body: new URLSearchParams(pairs).toString(),
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  })
}

interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
  readonly scope: string
  readonly expires_in: number
}

/** Goes the whole way: sign-in, consent, code, tokens. */
export async function tokensFor(
  home: Pick<TestGateway, 'request' | 'url'>,
  client: TestClient,
  changes: Readonly<Record<string, string | readonly string[]>> = {},
  browser = new Browser(home.url),
): Promise<Tokens & { readonly code: string; readonly verifier: string }> {
  const { url, verifier } = authorizationRequest(home, client, changes)
  const code = (await allowed(browser, url)).searchParams.get('code') ?? ''
  const answer = await exchange(home, client, code, verifier)
  if (answer.status !== 200) throw new Error(answer.text)
  return { ...answer.json, code, verifier }
}

export function exchange(
  home: Pick<TestGateway, 'request'>,
  client: TestClient,
  code: string,
  verifier: string,
  more: Readonly<Record<string, string | readonly string[]>> = {},
): Promise<Answer> {
  const { id: client_id, redirect_uri } = client
  return postForm(home, '/oauth/token', {
    grant_type: 'authorization_code',
    code,
    code_verifier: verifier,
    client_id,
    redirect_uri,
    ...more,
  })
}

export function refresh(
  home: Pick<TestGateway, 'request'>,
  client: TestClient,
  refresh_token: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return postForm(home, '/oauth/token', {
    grant_type: 'refresh_token',
    refresh_token,
    client_id: client.id,
    ...more,
  })
}
