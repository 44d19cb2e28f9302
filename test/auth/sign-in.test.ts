import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import { afterAll, describe, expect, test } from 'vitest'
import { Browser } from '../support/browser.ts'
import { temporaryFolder } from '../support/command.ts'
import { startGateway } from '../support/gateway.ts'
import {
  authorizationRequest,
  exchange,
  instantLogin,
  refresh,
  register,
  signIn,
  tokensFor,
} from '../support/sign-in.ts'

const login = instantLogin()
const home = await startGateway({}, { logins: [login] })
const client = await register(home)
afterAll(() => home[Symbol.asyncDispose]())

describe('what a person allowed', () => {
  test('ends with their data, and so does their session', async () => {
    await using here = await startGateway({}, { logins: [instantLogin()] })
    const app = await register(here)
    const browser = new Browser(here.url)
    const { access_token, refresh_token } = await tokensFor(
      here,
      app,
      { resource: here.url, scope: 'agents:read agents:write' },
      browser,
    )
    const shown = (await here.request('GET', '/api/personal-data?table=sign_ins', { token: access_token }))
      .json
    expect(shown.rows.map((row: { kind: string }) => row.kind).toSorted()).toEqual(['Account', 'Grant'])
    const body = { confirm: true }
    const deleted = await here.request('POST', '/api/personal-data/delete', { token: access_token, body })
    expect(deleted.status).toBe(200)
    expect((await refresh(here, app, refresh_token)).json.error).toBe('invalid_grant')
    expect((await browser.open(`${here.url}/sign-in`)).text).not.toContain('Ada')
  })

  test('outlives a change of the signing key, and ends with the login', async () => {
    let now = Date.now()
    await using folder = await temporaryFolder()
    const environment = { DRAGOMAN_DATA: folder.path }
    let last = ''
    {
      await using here = await startGateway(environment, { logins: [instantLogin()], clock: () => now })
      const app = await register(here)
      const first = await tokensFor(here, app, { resource: here.url })
      const { kid } = await here.gateway.identity.ring.rotate()
      now += 360_000
      const { json } = await refresh(here, app, first.refresh_token)
      expect(decodeProtectedHeader(json.access_token).kid).toBe(kid)
      for (const token of [first.access_token, json.access_token])
        expect((await here.request('GET', '/api/keys', { token })).status).toBe(200)
      last = json.access_token
    }
    await using without = await startGateway(environment, { clock: () => now })
    expect((await without.request('GET', '/api/keys', { token: last })).status).toBe(401)
  })
})

const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
const atMcp = (token: string) => home.request('POST', '/mcp', { token, body: list })

describe('sign-in', () => {
  test('leads from the request of a client by login and consent to a token for one resource', async () => {
    const browser = new Browser(home.url)
    const { url } = authorizationRequest(home, client)
    const first = await browser.open(url)
    expect([first.status, first.text]).toEqual([200, expect.stringContaining('Test client')])
    const consent = await signIn(browser, first)
    for (const text of ['Test client', '127.0.0.1:3999', 'MCP', 'Ada', 'Search agents'])
      expect(consent.text).toContain(text)
    const { access_token, refresh_token, ...more } = await tokensFor(home, client)
    expect(more).toMatchObject({ scope: 'agents:read a2a:call', expires_in: 3600 })
    const keys = createRemoteJWKSet(new URL(`${home.url}/.well-known/jwks.json`))
    const { payload, protectedHeader } = await jwtVerify(access_token, keys, { issuer: home.url })
    expect(protectedHeader).toMatchObject({ alg: 'EdDSA', typ: 'at+jwt' })
    expect(payload).toMatchObject({
      sub: 'ada',
      sub_iss: 'https://login.example',
      ns: ['com.ada'],
      aud: `${home.url}/mcp`,
      client_id: client.id,
      scope: 'agents:read a2a:call',
    })
    const principal = await home.gateway.authenticate(access_token)
    expect(principal).toMatchObject({ issuer: 'https://login.example', subject: 'ada', resources: ['/mcp'] })
    expect((await atMcp(access_token)).status).not.toBe(401)
    expect((await home.request('GET', '/api/agents', { token: access_token })).status).toBe(401)
    const next = await refresh(home, client, refresh_token)
    expect([next.status, next.json.scope]).toEqual([200, 'agents:read a2a:call'])
    expect((await atMcp(next.json.access_token)).status).not.toBe(401)
  })
  test('as somebody else, at the consent, goes on with the same request and gives a token of that person', async () => {
    const other = instantLogin()
    await using here = await startGateway({}, { logins: [other] })
    const app = await register(here)
    const browser = new Browser(here.url)
    const { url, verifier } = authorizationRequest(here, app)
    const asAda = await signIn(browser, await browser.open(url))
    expect(asAda.text).toContain('Not Ada?')
    other.person = { ...other.person, subject: 'eve', name: 'Eve', namespaces: [] }
    const again = await browser.submit(asAda, { decision: 'switch' })
    expect(again.text).toContain('asks for access in your name. Sign in first.')
    expect((await browser.submit(asAda, { decision: 'allow' })).status).toBe(403)
    const asEve = await signIn(browser, again)
    expect(asEve.text).toContain('<strong>Eve</strong>')
    const end = new URL((await browser.submit(asEve, { decision: 'allow' })).url)
    expect([end.origin + end.pathname, end.searchParams.get('state')]).toEqual([app.redirect_uri, 'xyz'])
    const { json } = await exchange(here, app, end.searchParams.get('code') ?? '', verifier)
    expect(await here.gateway.authenticate(json.access_token)).toMatchObject({
      subject: 'eve',
      namespaces: [],
    })
  })
})
