import { randomBytes } from 'node:crypto'
import { type AddressInfo, createServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import { consumeLoginLink, createLoginLink } from '../../src/auth/authorization-server/login-link.ts'
import { Browser } from '../support/browser.ts'
import { run } from '../support/command.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import {
  allowed,
  authorizationRequest,
  exchange,
  instantLogin,
  postForm,
  redirectUri,
  refresh,
  register,
  signIn,
  tokensFor,
} from '../support/sign-in.ts'

const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
const day = 86_400_000

async function statusOf(home: TestGateway, token: string, path = '/mcp') {
  const isMcp = path === '/mcp'
  const body = isMcp ? list : undefined
  return (await home.request(isMcp ? 'POST' : 'GET', path, { token, body })).status
}

const device_code_grant = 'urn:ietf:params:oauth:grant-type:device_code'

describe('a device code', () => {
  async function begin(home: TestGateway) {
    const answer = await postForm(home, '/oauth/device/code', {
      client_id: 'dragoman-cli',
      resource: home.url,
    })
    expect(answer.json).toMatchObject({ verification_uri: `${home.url}/oauth/device` })
    return answer.json as { device_code: string; user_code: string; verification_uri_complete: string }
  }
  const poll = (home: TestGateway, device_code: string, client_id = 'dragoman-cli') =>
    postForm(home, '/oauth/token', { grant_type: device_code_grant, device_code, client_id })

  test('signs in the command line, after its user has typed it, signed in and allowed it', async () => {
    await using home = await startGateway({}, { logins: [instantLogin()] })
    const { device_code, user_code, verification_uri_complete } = await begin(home)
    expect((await poll(home, device_code)).json.error).toBe('authorization_pending')
    const browser = new Browser(home.url)
    const typed = await browser.open(verification_uri_complete)
    expect(typed.forms[0]?.fields.user_code).toBe(user_code)
    const confirm = await browser.submit(typed)
    for (const text of ['Dragoman command line', user_code]) expect(confirm.text).toContain(text)
    const first = await signIn(browser, await browser.submit(confirm, { abort: '' }, withoutAbort(confirm)))
    expect(first.text).toContain('runs on a device')
    // Whoever is signed in may not be whom the device is for.
    const consent = await signIn(browser, await browser.submit(first, { decision: 'switch' }))
    const done = await browser.submit(consent, { decision: 'allow' })
    expect(done.text).toContain('is signed in')
    const { json, status } = await poll(home, device_code)
    expect(status).toBe(200)
    expect(await statusOf(home, json.access_token, '/api/keys')).toBe(200)
    expect((await poll(home, device_code)).json.error).toBe('invalid_grant')
    expect(await statusOf(home, json.access_token, '/api/keys')).toBe(401)
  })

  test('is typed in one browser: a second one is refused, and another client gets nothing', async () => {
    await using home = await startGateway({}, { logins: [instantLogin()] })
    const { device_code, user_code } = await begin(home)
    const [first, second] = [new Browser(home.url), new Browser(home.url)]
    const forms = await Promise.all(
      [first, second].map((browser) => browser.open(`${home.url}/oauth/device`)),
    )
    const [mine, theirs] = forms
    if (!mine || !theirs) throw new Error('Two pages are expected.')
    const confirm = await first.submit(mine, { user_code })
    const later = await second.submit(theirs, { user_code })
    await first.submit(confirm, {}, withoutAbort(confirm))
    const refused = await second.submit(later, {}, withoutAbort(later))
    expect(refused.text).toContain('was used before')
    expect((await poll(home, device_code)).json.error).toBe('authorization_pending')
    const app = await register(home, { grant_types: [device_code_grant] })
    expect((await poll(home, device_code, app.id)).json.error).toBe('invalid_grant')
  })

  test('that is refused, or not there, signs in nobody', async () => {
    await using home = await startGateway({}, { logins: [instantLogin()] })
    const { device_code, user_code } = await begin(home)
    const browser = new Browser(home.url)
    const page = await browser.open(`${home.url}/oauth/device`)
    const wrong = await browser.submit(page, { user_code: 'BCDF-GHJK' })
    expect(wrong.text).toContain('no such code')
    const confirm = await browser.submit(wrong, { user_code })
    const refused = await browser.submit(confirm, { abort: 'yes' })
    expect(refused.text).toContain('was refused')
    expect((await poll(home, device_code)).json.error).toBe('access_denied')
    const lost = await browser.open(`${home.url}/oauth/device/nothing`)
    expect([lost.status, lost.text]).toEqual([400, expect.stringContaining('No device waits')])
  })
})

/** The button to continue, not the one to refuse. */
function withoutAbort({ forms }: { readonly forms: readonly { action: string; fields: object }[] }) {
  const [form] = forms
  if (!form) throw new Error('The page has no form.')
  return { action: form.action, fields: form.fields as Record<string, string> }
}

describe('a refresh token', () => {
  test('is good once; a second use ends all that was allowed', async () => {
    await using home = await startGateway({}, { logins: [instantLogin()] })
    const client = await register(home)
    const first = await tokensFor(home, client)
    const second = (await refresh(home, client, first.refresh_token)).json
    expect(await statusOf(home, second.access_token)).not.toBe(401)
    expect((await refresh(home, client, first.refresh_token)).json.error).toBe('invalid_grant')
    expect((await refresh(home, client, second.refresh_token)).json.error).toBe('invalid_grant')
    for (const { access_token } of [first, second]) expect(await statusOf(home, access_token)).toBe(401)
  })

  test('that several requests use at once gives at most one answer', async () => {
    await using home = await startGateway({}, { logins: [instantLogin()] })
    const client = await register(home)
    const { refresh_token } = await tokensFor(home, client)
    const answers = await Promise.all(Array.from({ length: 8 }, () => refresh(home, client, refresh_token)))
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1)
  })

  test('of one client is nothing to another, and gives no more scopes', async () => {
    await using home = await startGateway({}, { logins: [instantLogin()] })
    const [client, other] = [await register(home), await register(home)]
    const { refresh_token } = await tokensFor(home, client)
    expect((await refresh(home, other, refresh_token)).json.error).toBe('invalid_grant')
    const more = await refresh(home, client, refresh_token, { scope: 'agents:read agents:write' })
    expect(more.json.error).toBe('invalid_scope')
  })

  test('that was used or revoked stays so after an export and an import', async () => {
    await using home = await startGateway({}, { logins: [instantLogin()] })
    const client = await register(home)
    const { refresh_token } = await tokensFor(home, client)
    const file = `${home.data}/registry.jsonl`
    const environment = { DRAGOMAN_DATA: home.data }
    expect((await run(['export', file], environment)).code).toBe(0)
    const next = (await refresh(home, client, refresh_token)).json
    await postForm(home, '/oauth/revoke', { token: next.refresh_token, client_id: client.id })
    const restored = await run(['import', file, '--replace'], environment)
    expect(restored.code, restored.stderr).toBe(0)
    for (const token of [refresh_token, next.refresh_token])
      expect((await refresh(home, client, token)).json.error).toBe('invalid_grant')
    expect(await statusOf(home, next.access_token)).toBe(401)
  })
})

describe('revocation by a client', () => {
  test('ends an access token alone, or with its refresh token everything', async () => {
    await using home = await startGateway({}, { logins: [instantLogin()] })
    const [client, other] = [await register(home), await register(home)]
    const first = await tokensFor(home, client)
    const revoke = (token: string, client_id = client.id) =>
      postForm(home, '/oauth/revoke', { token, client_id })
    expect((await revoke(first.access_token, other.id)).status).toBe(400)
    await revoke(first.refresh_token, other.id)
    expect(await statusOf(home, first.access_token)).not.toBe(401)
    expect((await revoke(first.access_token)).status).toBe(200)
    expect((await revoke(first.access_token)).status).toBe(200)
    expect(await statusOf(home, first.access_token)).toBe(401)
    const second = (await refresh(home, client, first.refresh_token)).json
    expect((await revoke(second.refresh_token)).status).toBe(200)
    expect(await statusOf(home, second.access_token)).toBe(401)
    expect((await refresh(home, client, second.refresh_token)).json.error).toBe('invalid_grant')
  })
})

describe('registration', () => {
  test('is counted by address', async () => {
    await using home = await startGateway({ DRAGOMAN_RATE_LIMIT: 'on' }, { clock: () => 1_800_000_000_000 })
    const body = { client_name: 'Flood', redirect_uris: [redirectUri] }
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => home.request('POST', '/oauth/register', { body })),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(7)
  })

  test.each(['/sign-in/link?code=none', '/oauth/authorize'])(
    'and the page %s, asked too often, says when to ask again',
    async (path) => {
      await using home = await startGateway({ DRAGOMAN_RATE_LIMIT: 'on' }, { clock: () => 1_800_000_000_000 })
      let answer: Response
      do answer = await fetch(home.url + path)
      while (answer.status !== 429)
      expect(await answer.text()).toContain('Ask again in 1 s.')
      expect(answer.headers.get('retry-after')).toBe('1')
    },
  )

  test('of a client that nobody has allowed anything ends after a day', async () => {
    let now = Date.now()
    await using home = await startGateway({}, { logins: [instantLogin()], clock: () => now })
    const [used, unused] = [await register(home), await register(home)]
    await allowed(new Browser(home.url), authorizationRequest(home, used).url)
    now += day + 1000
    expect(await home.gateway.store.signIn.count('Client', now)).toBe(1)
    const gone = await new Browser(home.url).open(authorizationRequest(home, unused).url)
    expect([gone.status, gone.text]).toEqual([400, expect.stringContaining('client is invalid')])
    const still = await new Browser(home.url).open(authorizationRequest(home, used).url)
    expect(still.status).toBe(200)
  })

  test('gives no client a secret, a way past consent, or a grant that is not offered', async () => {
    await using home = await startGateway()
    const { json } = await home.request('POST', '/oauth/register', {
      body: {
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: 'client_secret_basic',
        application_type: 'web',
        grant_types: ['authorization_code', 'implicit', 'password', 'client_credentials'],
        response_types: ['token'],
        jwks_uri: 'http://127.0.0.1:1/keys',
        sector_identifier_uri: 'http://127.0.0.1:1/',
        logo_uri: 'http://127.0.0.1:1/logo',
        client_id: 'dragoman-cli',
      },
    })
    expect(json).toMatchObject({
      token_endpoint_auth_method: 'none',
      application_type: 'native',
      grant_types: ['authorization_code'],
      response_types: ['code'],
    })
    expect(json.client_id).not.toBe('dragoman-cli')
    for (const name of ['client_secret', 'jwks_uri', 'sector_identifier_uri', 'logo_uri'])
      expect(json).not.toHaveProperty(name)
  })
})

describe('the metadata document of a client', () => {
  test('is neither announced nor fetched, unless the operator wants it', async () => {
    await using home = await startGateway({}, { logins: [instantLogin()] })
    const client = { id: 'https://client.example/metadata', redirect_uri: redirectUri }
    const page = await new Browser(home.url).open(authorizationRequest(home, client).url)
    expect(page.status).toBe(400)
  })

  test('at a private address is not fetched', async () => {
    let connections = 0
    await using server = createServer()
    server.on('connection', (socket) => {
      connections += 1
      socket.destroy()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    await using home = await startGateway(
      { DRAGOMAN_CLIENT_DOCUMENTS: 'on' },
      {
        logins: [instantLogin()],
        ports: [port],
        lookup: (_, __, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
      },
    )
    const { json } = await home.request('GET', '/.well-known/oauth-authorization-server')
    expect(json.client_id_metadata_document_supported).toBe(true)
    for (const host of ['127.0.0.1', 'localhost', 'client.example', '169.254.169.254', '[::1]', '10.0.0.1']) {
      const client = { id: `https://${host}:${port}/metadata`, redirect_uri: redirectUri }
      const page = await new Browser(home.url).open(authorizationRequest(home, client).url)
      expect(page.status).toBeGreaterThanOrEqual(400)
      expect(page.links.filter((link) => link !== '/')).toEqual([])
    }
    expect(connections).toBe(0)
  })
})

describe('a one-time address', () => {
  test('signs in the browser of the person at this machine, once', async () => {
    await using home = await startGateway()
    const client = await register(home)
    const browser = new Browser(home.url)
    const { url, verifier } = authorizationRequest(home, client)
    const page = await browser.open(url)
    expect(page.text).toContain(
      '<code>dragoman login</code> (in a clone <code>npm run -s dragoman -- login</code>)',
    )
    expect(page.text).not.toContain('not signed in yet')
    expect((await browser.open(page.links.at(-1) ?? '')).text).toContain('not signed in yet')
    const code = await createLoginLink(home.gateway.store.signIn, Date.now, randomBytes)
    const link = `${home.url}/sign-in/link?code=${code}`
    const account = await browser.submit(await browser.open(link))
    expect(account.text).toContain('You, on this machine')
    const consent = await browser.open(page.links.at(-1) ?? '')
    const end = new URL((await browser.submit(consent, { decision: 'allow' })).url)
    const { json } = await exchange(home, client, end.searchParams.get('code') ?? '', verifier)
    expect(await home.gateway.authenticate(json.access_token)).toMatchObject({
      issuer: 'urn:dragoman:local',
      subject: 'person:local',
    })
    const again = new Browser(home.url)
    expect((await again.submit(await again.open(link))).status).toBe(401)
  })

  test('ends after ten minutes, and is used by nobody where the gateway is not on loopback', async () => {
    let now = Date.now()
    await using home = await startGateway({}, { clock: () => now })
    const { signIn: store } = home.gateway.store
    const code = await createLoginLink(store, () => now, randomBytes)
    now += 600_001
    expect(await consumeLoginLink(store, () => now, code)).toBe(false)
    await using far = await startGateway({ DRAGOMAN_BASE_URL: 'https://registry.example' })
    const other = await createLoginLink(far.gateway.store.signIn, Date.now, randomBytes)
    const headers = { Host: 'registry.example' }
    const page = await far.request('GET', `/sign-in/link?code=${other}`, { headers })
    expect(page.status).toBe(404)
    expect(await consumeLoginLink(far.gateway.store.signIn, Date.now, other)).toBe(true)
  })
})

test('cookies are Secure and bound to the host where the base URL has https', async () => {
  await using home = await startGateway(
    { DRAGOMAN_BASE_URL: 'https://registry.example/base' },
    { logins: [instantLogin()] },
  )
  const client = await register(home)
  const { url } = authorizationRequest({ url: '' }, client, { resource: 'https://registry.example/base/mcp' })
  const started = await fetch(home.url + url, { redirect: 'manual' })
  expect(started.headers.get('location')).toMatch(/^https:\/\/registry\.example\/base\/sign-in\/[\w-]+$/)
  for (const cookie of started.headers.getSetCookie()) expect(cookie).toMatch(/; secure/i)
  expect(started.headers.getSetCookie().join()).toContain('path=/base/sign-in/')
  const page = await fetch(`${home.url}/sign-in`)
  const begun = await fetch(`${home.url}/sign-in/with/example`, { redirect: 'manual' })
  expect(page.status).toBe(200)
  expect(begun.headers.get('location')).toMatch(
    /^https:\/\/registry\.example\/base\/sign-in\/example\/callback\?/,
  )
  expect(begun.headers.getSetCookie()[0]).toMatch(/^__Host-dragoman-login=.*; Path=\/;.*; Secure$/)
})
