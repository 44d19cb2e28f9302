import { once } from 'node:events'
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose'
import { afterAll, describe, expect, test } from 'vitest'
import { localIssuer } from '../../schemas/identity.ts'
import type { Scope } from '../../schemas/scope.ts'
import { mintToken } from '../../src/auth/issuer.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { openSocket } from '../support/socket.ts'

const home = await startGateway()
const client = await keyOf('ada', ['agents:read', 'a2a:call'])
afterAll(() => home[Symbol.asyncDispose]())

async function keyOf(subject: string, scopes: Scope[], at = home): Promise<{ id: string; key: string }> {
  const token = await at.token(subject, { scopes, namespaces: ['com.ada'] })
  return (await at.request('POST', '/api/keys', { token })).json
}

const basic = (id: string, secret: string) =>
  `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`

interface TokenRequest {
  readonly fields?: Record<string, string> | [string, string][]
  readonly authorization?: string | null
  readonly path?: string
  readonly at?: TestGateway
}

/** Asks with the credentials of the client by default. */
function ask({ fields = {}, authorization, path = '/oauth/token', at = home }: TokenRequest = {}) {
  const header = authorization === undefined ? basic(client.id, client.key) : authorization
  return at.request('POST', path, {
    body: new URLSearchParams(fields).toString(),
    headers: {
      'Content-Type': 'application/x-www-form-urlencoded',
      ...(header !== null && { Authorization: header }),
    },
  })
}
const grant_type = 'client_credentials'

describe('the token endpoint', () => {
  test('issues a token for an hour to the holder of an API key, verifiable by our metadata', async () => {
    const { status, json, headers } = await ask({ fields: { grant_type } })
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(json).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'agents:read a2a:call',
    })
    const server = (await home.request('GET', '/.well-known/oauth-authorization-server')).json
    expect(server.token_endpoint).toBe(`${home.url}/oauth/token`)
    const { payload, protectedHeader } = await jwtVerify(
      json.access_token,
      createRemoteJWKSet(new URL(server.jwks_uri)),
      { issuer: server.issuer, audience: home.gateway.identity.ring.name, typ: 'at+jwt' },
    )
    expect(protectedHeader.alg).toBe('EdDSA')
    expect(payload).toMatchObject({ sub: 'ada', client_id: client.id, ns: ['com.ada'] })
    expect((payload.exp ?? 0) - Math.floor(payload.iat ?? 0)).toBe(3600)
    const used = await home.request('POST', '/a2a/discover', {
      token: json.access_token,
      body: { query: 'wiki' },
    })
    expect(used.status).toBe(200)
  })

  test('issues only the requested scopes, for the requested resources', async () => {
    const resources = [`${home.url}/mcp`, home.url]
    const fields: [string, string][] = [
      ['grant_type', grant_type],
      ['scope', 'agents:read'],
      ...resources.map((credential): [string, string] => ['resource', credential]),
    ]
    const { json } = await ask({ fields })
    expect(json.scope).toBe('agents:read')
    expect(decodeJwt(json.access_token)).toMatchObject({ aud: resources, scope: 'agents:read' })
    expect((await home.request('GET', '/api/agents', { token: json.access_token })).status).toBe(200)
    const credential = await ask({ fields: { grant_type, resource: `${home.url}/mcp` } })
    expect(decodeJwt(credential.json.access_token).aud).toBe(`${home.url}/mcp`)
  })

  test.each<[string, TokenRequest, number, string]>([
    ['without credentials', { fields: { grant_type }, authorization: null }, 401, 'invalid_client'],
    ['with a bearer token', { fields: { grant_type }, authorization: 'Bearer x' }, 401, 'invalid_client'],
    ['with what is no base64', { fields: { grant_type }, authorization: 'Basic !' }, 401, 'invalid_client'],
    ['without a colon', { fields: { grant_type }, authorization: 'Basic YWJj' }, 401, 'invalid_client'],
    [
      'with a broken escape',
      { fields: { grant_type }, authorization: 'Basic JToleA==' },
      401,
      'invalid_client',
    ],
    ['without a grant', { fields: {} }, 400, 'invalid_request'],
    ['with an empty grant', { fields: { grant_type: '' } }, 400, 'invalid_request'],
    ['with another grant', { fields: { grant_type: 'password' } }, 400, 'unsupported_grant_type'],
    [
      'with a grant twice',
      {
        fields: [
          ['grant_type', grant_type],
          ['grant_type', grant_type],
        ],
      },
      400,
      'invalid_request',
    ],
    [
      'with a scope of more',
      { fields: { grant_type, scope: 'agents:read agents:write' } },
      400,
      'invalid_scope',
    ],
    ['with a scope that is none', { fields: { grant_type, scope: 'all' } }, 400, 'invalid_scope'],
    ['with admin', { fields: { grant_type, scope: 'admin' } }, 400, 'invalid_scope'],
    [
      'for somebody else',
      { fields: { grant_type, resource: 'https://else.example/mcp' } },
      400,
      'invalid_target',
    ],
    [
      'for what only begins alike',
      { fields: { grant_type, resource: 'http://127.0.0.1:1.evil/' } },
      400,
      'invalid_target',
    ],
    [
      'for what each object of JavaScript has',
      { fields: { grant_type, resource: `${home.url}constructor` } },
      400,
      'invalid_target',
    ],
    ['as two clients', { fields: { grant_type, client_id: 'drg_AAAAAAAA' } }, 401, 'invalid_client'],
  ])('refuses a request %s', async (_, request, status, error) => {
    const answer = await ask(request)
    expect([answer.status, answer.json.error]).toEqual([status, error])
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('www-authenticate')).toBe(status === 401 ? 'Basic realm="dragoman"' : null)
    expect(answer.text).not.toContain(client.key)
  })

  test('takes neither half of a client for another’s', async () => {
    const other = await keyOf('bob', ['agents:read'])
    for (const [id, secret] of [
      [client.id, other.key],
      [other.id, client.key],
      [client.id, client.key.slice(13)],
      [client.id, `${client.key}A`],
      ['', client.key],
    ] as const) {
      const { json } = await ask({ fields: { grant_type }, authorization: basic(id, secret) })
      expect(json.error).toBe('invalid_client')
    }
  })

  test('answers in JSON to any request', async () => {
    for (const [body, type, status] of [
      ['{"grant_type":"client_credentials"}', 'application/json', 415],
      ['x'.repeat(17 * 1024), 'application/x-www-form-urlencoded', 413],
      ['%ZZ=%', 'application/x-www-form-urlencoded', 400],
    ] as const) {
      const answer = await home.request('POST', '/oauth/token', {
        body,
        headers: { 'Content-Type': type, Authorization: basic(client.id, client.key) },
      })
      expect([answer.status, answer.json.error]).toEqual([status, 'invalid_request'])
    }
    const get = await home.request('GET', '/oauth/token')
    expect([get.status, get.json.code, get.headers.get('allow')]).toEqual([
      405,
      'method_not_allowed',
      'OPTIONS, POST',
    ])
  })

  test('accepts at most sixty requests a minute from one address', async () => {
    const now = Date.now()
    await using strict = await startGateway({ DRAGOMAN_RATE_LIMIT: 'on' }, { clock: () => now })
    const answers = await Promise.all(
      Array.from({ length: 61 }, () =>
        ask({ fields: { grant_type }, authorization: basic('drg_AAAAAAAA', 'x'), at: strict }),
      ),
    )
    const statuses = answers.map(({ status }) => status).toSorted()
    expect(statuses).toEqual([...Array(60).fill(401), 429])
    const late = answers.find(({ status }) => status === 429)
    expect(late?.json.error).toBe('temporarily_unavailable')
    expect(Number(late?.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  test('gives tokens that last no longer than their key', async () => {
    const token = await home.token('brief')
    const made = (await home.request('POST', '/api/keys', { token, body: { ttl_s: 100 } })).json
    const { json } = await ask({ fields: { grant_type }, authorization: basic(made.id, made.key) })
    expect(json.expires_in).toBeGreaterThan(90)
    expect(json.expires_in).toBeLessThanOrEqual(100)
  })

  test.each([undefined, 'https://registry.example/base'])(
    'gives tokens that hold with the base URL %s',
    async (base) => {
      await using here = await startGateway(base === undefined ? {} : { DRAGOMAN_BASE_URL: base })
      const { mint, ring, authenticate } = here.gateway.identity
      const { base_url } = here.gateway.site()
      const caller = { issuer: localIssuer, subject: 'ada', scopes: new Set([]), namespaces: [] }
      const names = ['', '/', '/mcp', '/mcp/ws', '/rpc', '/a2a/message'].map((path) => base_url + path)
      for (const audience of [[], [ring.name], ...names.map((name) => [name]), ['urn:else', base_url]]) {
        const { access_token } = await mint(caller, [], audience)
        expect(decodeJwt(access_token).iss).toBe(base_url)
        expect((await authenticate(access_token)).subject).toBe('ada')
      }
      const { access_token } = await mint(caller, [], ['urn:else'])
      await expect(authenticate(access_token)).rejects.toMatchObject({ code: 'unauthenticated' })
      const grant = { subject: 'ada', scopes: [], namespaces: [], audience: [ring.name], ttl_s: 60 }
      const named = await mintToken(await ring.signing(), ring.name, grant, Date.now)
      expect((await authenticate(named)).subject).toBe('ada')
    },
  )

  test('makes no subject of another issuer one of ours', async () => {
    const DRAGOMAN_ISSUERS = '[{"issuer":"https://else.example","audience":"x","scopes":{}}]'
    await using trusting = await startGateway({ DRAGOMAN_ISSUERS })
    const { identity } = trusting.gateway
    const caller = {
      issuer: 'https://else.example',
      subject: 'ada',
      scopes: new Set(['agents:read'] as const),
      namespaces: [],
    }
    const made = await identity.createKey({ ttl_s: 600 }, caller)
    const authorization = basic(made.id, made.key)
    const { json } = await ask({ fields: { grant_type }, authorization, at: trusting })
    const principal = await identity.authenticate(json.access_token)
    expect([principal.issuer, principal.subject]).toEqual(['https://else.example', 'ada'])
    const ours = await identity.authenticate(await trusting.token('ada'))
    expect(ours.issuer).toBe(localIssuer)
  })
})

describe('revocation by clients', () => {
  test('revokes a token that was obtained with the key; repeating it, or an unknown token, is no error', async () => {
    const { access_token: token } = (await ask({ fields: { grant_type } })).json
    await using peer = await openSocket(`${home.url}/rpc`, ['jsonrpc', `bearer.${token}`])
    const closed = once(peer.socket, 'close')
    for (const fields of [{ token }, { token, token_type_hint: 'access_token' }, { token: 'garbage' }]) {
      const answer = await ask({ fields, path: '/oauth/revoke' })
      expect([answer.status, answer.text]).toEqual([200, ''])
    }
    expect((await closed)[0]).toBe(1008)
    expect((await home.request('GET', '/api/agents', { token })).status).toBe(401)
  })

  test('is for clients, and for their own tokens', async () => {
    const token = await home.token('bob')
    const foreign = await ask({ fields: { token }, path: '/oauth/revoke' })
    expect([foreign.status, foreign.json.error]).toEqual([400, 'unauthorized_client'])
    const other = await keyOf('bob', ['agents:read'])
    const key = await ask({ fields: { token: other.key }, path: '/oauth/revoke' })
    expect([key.status, key.json.error]).toEqual([400, 'unauthorized_client'])
    expect((await home.request('GET', '/api/agents', { token: other.key })).status).toBe(200)
    const anonymous = await ask({ fields: { token }, path: '/oauth/revoke', authorization: null })
    expect([anonymous.status, anonymous.json.error]).toEqual([401, 'invalid_client'])
    expect((await ask({ fields: {}, path: '/oauth/revoke' })).json.error).toBe('invalid_request')
    expect((await home.request('GET', '/api/agents', { token })).status).toBe(200)
  })

  test('of the key itself ends every token obtained with it', async () => {
    const made = await keyOf('gone', ['agents:read'])
    const authorization = basic(made.id, made.key)
    const { access_token: token } = (await ask({ fields: { grant_type }, authorization })).json
    expect((await home.request('GET', '/api/agents', { token })).status).toBe(200)
    await ask({ fields: { token: made.key }, path: '/oauth/revoke', authorization })
    for (const credential of [token, made.key])
      expect((await home.request('GET', '/api/agents', { token: credential })).status).toBe(401)
    expect((await ask({ fields: { grant_type }, authorization })).status).toBe(401)
  })
})
