import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, describe, expect, test } from 'vitest'
import type { Failure } from '../../schemas/failure.ts'
import { createAuthenticator } from '../../src/auth/authenticator.ts'
import { createExternalVerifier, type ExternalOptions } from '../../src/auth/external.ts'
import { readIssuers } from '../../src/auth/issuers.ts'
import type { SigningKey } from '../../src/auth/key.ts'
import { createSafeFetch } from '../../src/net/fetch/safe-fetch.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { serve } from '../net/support.ts'
import { forgeries, spellings } from '../support/forgery.ts'
import { startGateway } from '../support/gateway.ts'
import { startIssuer } from '../support/oidc.ts'
import { publication } from '../transports/cases.ts'

const audience = 'https://registry.example'
const entry = (issuer: string, more: object = {}) => ({
  issuer,
  audience,
  scopes: { 'registry:read': 'agents:read', 'registry:write': ['agents:write', 'agents:publish'] },
  namespaces_claim: 'groups',
  ...more,
})

const issuer = await startIssuer()
afterAll(() => issuer[Symbol.asyncDispose]())

/** An authenticator that trusts one issuer, reached through the guard. */
async function trust(
  setting: object,
  options: Partial<ExternalOptions> & { allowed?: string[] } = {},
): Promise<{ authenticate: (token: string) => Promise<unknown> } & AsyncDisposable> {
  const [first] = await readIssuers(JSON.stringify([setting]), [])
  if (!first) throw new Error('There is no issuer.')
  const clock = options.clock ?? Date.now
  const net = createSafeFetch({ user_agent: 'test', allow_origins: options.allowed ?? [first.issuer] })
  const verify = createExternalVerifier(first, { fetch: net.fetch, clock, onError: () => {}, ...options })
  const authenticate = createAuthenticator({
    verifierOf: (name) => (name === first.issuer ? verify : undefined),
    verifyKey: () => Promise.reject(new Error('There are no API keys here.')),
    isTrusted: (name) => name === first.issuer,
    revocations: { revoked: () => false },
    clock,
  })
  return {
    authenticate: async (token) => await authenticate(token),
    [Symbol.asyncDispose]: () => net[Symbol.asyncDispose](),
  }
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'taken',
    (thrown) => (thrown as Failure).code,
  )

describe('an issuer that the operator trusts', () => {
  test('has its tokens accepted at every transport, for their subject, with the mapped scopes', async () => {
    await using home = await startGateway({ DRAGOMAN_ISSUERS: JSON.stringify([entry(issuer.issuer)]) })
    const token = await issuer.token(audience, 'registry:read registry:write registry:root')
    const made = await home.request('POST', '/api/agents/publish', {
      token,
      body: publication('com.robot.agent'),
    })
    expect(made.status).toBe(201)
    expect(made.json.owner).toEqual({ namespace: 'com.robot', issuer: issuer.issuer, subject: 'robot' })
    const principal = await home.gateway.authenticate(token)
    expect([...principal.scopes]).toEqual(['agents:read', 'agents:write', 'agents:publish'])
    expect(principal.namespaces).toEqual(['com.robot'])
    const rpc = await home.request('POST', '/rpc', {
      token,
      body: { jsonrpc: '2.0', id: 1, method: 'registry.search_agents', params: { filters: { mine: true } } },
    })
    expect(rpc.json.result.total).toBe(1)
    const other = await home.request('GET', '/api/agents?mine=true', { token: await home.token('robot') })
    expect(other.json.total).toBe(0)
  })

  test('takes its subjects’ API keys along when it is trusted no longer', async () => {
    await using home = await startGateway({ DRAGOMAN_ISSUERS: JSON.stringify([entry(issuer.issuer)]) })
    const token = await issuer.token(audience, 'registry:read registry:write')
    const { key } = (await home.request('POST', '/api/keys', { token })).json
    const holds = async (at: typeof home) => (await at.request('GET', '/api/agents', { token: key })).status
    expect(await holds(home)).toBe(200)
    await using later = await startGateway({ DRAGOMAN_DATA: home.data })
    expect(await holds(later)).toBe(401)
  })

  test('may have a token revoked by its holder, and by an admin', async () => {
    await using home = await startGateway({ DRAGOMAN_ISSUERS: JSON.stringify([entry(issuer.issuer)]) })
    const [first, two] = [
      await issuer.token(audience, 'registry:read'),
      await issuer.token(audience, 'registry:read'),
    ]
    const revoke = (token: string, params: object) =>
      home.request('POST', '/a2a/message', { token, body: { to: 'svc.registry', action: 'revoke', params } })
    const status = async (token: string) => (await home.request('GET', '/api/agents', { token })).status
    expect((await revoke(two, { token: first })).status).toBe(200)
    expect([await status(first), await status(two)]).toEqual([401, 200])
    const admin = await home.token('root', { scopes: ['admin'] })
    const all = { subject: 'robot', issuer: issuer.issuer }
    expect((await revoke(admin, all)).status).toBe(200)
    expect(await status(two)).toBe(401)
  })

  test('gets a request for its metadata only at the first token, and one request for its keys', async () => {
    await using fresh = await startIssuer()
    await using home = await trust(entry(fresh.issuer))
    const tokens = [
      await fresh.token(audience, 'registry:read'),
      await fresh.token(audience, 'registry:write'),
    ]
    fresh.requests.length = 0
    for (const token of tokens) await home.authenticate(token)
    expect(fresh.requests).toEqual(['/.well-known/openid-configuration', '/jwks'])
  })

  test('may change its keys: an unknown one is looked for, but not at every try', async () => {
    await using fresh = await startIssuer()
    await using patient = await trust(entry(fresh.issuer))
    await using eager = await trust(entry(fresh.issuer), { cooldown_ms: 0 })
    for (const home of [patient, eager]) await home.authenticate(await fresh.token(audience, 'registry:read'))
    await fresh.rotate()
    const token = await fresh.token(audience, 'registry:read')
    fresh.requests.length = 0
    expect(await codeOf(patient.authenticate(token))).toBe('unauthenticated')
    expect(fresh.requests).toEqual([])
    expect(await codeOf(eager.authenticate(token))).toBe('taken')
    expect(fresh.requests).toEqual(['/jwks'])
  })

  test('that does not answer makes its tokens unavailable, not wrong, and is left alone for a while', async () => {
    await using fresh = await startIssuer()
    let now = Date.now()
    await using home = await trust(entry(fresh.issuer), { clock: () => now })
    const token = await fresh.token(audience, 'registry:read')
    fresh.fail(500)
    expect(await codeOf(home.authenticate(token))).toBe('unavailable')
    fresh.fail(0)
    fresh.requests.length = 0
    expect(await codeOf(home.authenticate(token))).toBe('unavailable')
    expect(fresh.requests).toEqual([])
    now += 5000
    expect(await codeOf(home.authenticate(token))).toBe('taken')
  })

  test('that is down is 503 with a retry time, and affects no other issuer', async () => {
    const gone = await startIssuer()
    const token = await gone.token(audience, 'registry:read')
    await gone[Symbol.asyncDispose]()
    await using home = await startGateway({ DRAGOMAN_ISSUERS: JSON.stringify([entry(gone.issuer)]) })
    const answer = await home.request('GET', '/api/agents', { token })
    expect([answer.status, answer.json.code, answer.headers.get('retry-after')]).toEqual([
      503,
      'unavailable',
      '5',
    ])
    expect((await home.request('GET', '/api/agents', { token: await home.token('ada') })).status).toBe(200)
  })

  test('is reached through the guard: keys elsewhere on this machine are not fetched', async () => {
    await using inner = await serve((_, response) => response.end('{"keys":[]}'))
    const setting = entry(issuer.issuer, { jwks_uri: `${inner.origin}/jwks` })
    await using home = await trust(setting, { allowed: [issuer.issuer] })
    expect(await codeOf(home.authenticate(await issuer.token(audience, 'registry:read')))).toBe('unavailable')
    expect(inner.hits()).toBe(0)
  })

  test.each<[string, object, string]>([
    ['as they are', {}, 'taken'],
    ['over plain HTTP', { metadata: { jwks_uri: 'http://login.example/jwks' } }, 'unavailable'],
    ['by a redirect', { redirects: ['https://login.example/jwks'] }, 'unavailable'],
    ['by the metadata of another', { metadata: { issuer: 'https://login.example/' } }, 'unavailable'],
    ['among a private key', { key: { d: 'AAAA' } }, 'unavailable'],
    ['among a shared secret', { key: { kty: 'oct', k: 'AAAA' } }, 'unauthenticated'],
  ])('has its keys accepted, or not: %s', async (_, twist, verdict) => {
    const {
      metadata,
      redirects = [],
      key = {},
    } = twist as {
      metadata?: object
      redirects?: string[]
      key?: object
    }
    const name = 'https://login.example'
    const pair = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })
    const bodies: Record<string, object> = {
      '/jwks': { keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'theirs', ...key }] },
      '/.well-known/openid-configuration': { issuer: name, jwks_uri: `${name}/jwks`, ...metadata },
    }
    const faults: unknown[] = []
    await using home = await trust(entry(name), {
      onError: (fault) => void faults.push(fault),
      async fetch({ url }) {
        const body = bodies[new URL(url).pathname]
        return { status: body ? 200 : 404, body: Buffer.from(JSON.stringify(body ?? {})), redirects }
      },
    })
    const token = await new SignJWT({})
      .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid: 'theirs' })
      .setIssuer(name)
      .setAudience(audience)
      .setSubject('ada')
      .setJti('1')
      .setExpirationTime('1h')
      .sign(pair.privateKey)
    for (let turn = 0; turn < 3; turn++) expect(await codeOf(home.authenticate(token))).toBe(verdict)
    expect(faults).toHaveLength(verdict === 'unavailable' ? 1 : 0)
  })

  test('has no token for another audience accepted, nor with another algorithm', async () => {
    await using home = await trust(entry(issuer.issuer))
    expect(await codeOf(home.authenticate(await issuer.token('https://else.example', 'registry:read')))).toBe(
      'unauthenticated',
    )
    await using narrow = await trust(entry(issuer.issuer, { algorithms: ['RS256'] }))
    expect(await codeOf(narrow.authenticate(await issuer.token(audience, 'registry:read')))).toBe(
      'unauthenticated',
    )
  })
})

test('the log says why the token of an issuer is refused, without the token, and the answer does not', async () => {
  const lines: string[] = []
  const log = createLogger('info', { write: (line) => void lines.push(line) })
  const DRAGOMAN_ISSUERS = JSON.stringify([entry(issuer.issuer)])
  await using home = await startGateway({ DRAGOMAN_ISSUERS }, { log })
  const elsewhere = await issuer.token('https://else.example', 'registry:read')
  const payload = elsewhere.split('.')[1]
  const key = await home.request('POST', '/api/keys', { token: await home.token('ada'), body: {} })
  await home.request('DELETE', `/api/keys/${key.json.id}`, { token: await home.token('ada') })
  const ended = key.json.key
  const ids: unknown[] = []
  for (const token of [elsewhere, 'no-token', ended]) {
    const { status, text, headers } = await home.request('GET', '/api/usage', { token })
    ids.push(headers.get('x-request-id'))
    expect([status, text]).toEqual([401, expect.not.stringContaining('aud')])
  }
  const refusals = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'credential refused')
  expect(refusals.map(({ id }) => id)).toEqual(ids)
  expect(refusals).toMatchObject([
    { level: 30, issuer: issuer.issuer, sub: expect.any(String), reason: 'unexpected "aud" claim value' },
    { level: 30, reason: 'The token is not a JWT.' },
    { level: 30, key: key.json.id, reason: expect.any(String) },
  ])
  expect(lines.join('')).not.toContain(payload)
  expect(lines.join('')).not.toContain(ended.slice(-20))
})

test('an external token valid for more than a year is refused: revocations are not stored longer', async () => {
  const name = 'https://login.example'
  const pair = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })
  const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'theirs' }] })
  await using home = await trust(entry(name, { jwks_uri: `${name}/jwks`, types: ['jwt'] }), {
    fetch: async () => ({ status: 200, body: Buffer.from(jwks), redirects: [] }),
  })
  const now = Math.floor(Date.now() / 1000)
  const verdict = async (claims: object) =>
    await codeOf(
      home.authenticate(
        await new SignJWT({ iss: name, aud: audience, sub: 'ada', ...claims })
          .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', kid: 'theirs' })
          .sign(pair.privateKey),
      ),
    )
  const year = 365 * 86_400
  expect(await verdict({ exp: now + 60, iat: now - year })).toBe('unauthenticated')
  expect(await verdict({ exp: now + 2 * year })).toBe('unauthenticated')
  expect(await verdict({ exp: 1e300 })).toBe('unauthenticated')
  expect(await verdict({ exp: now + 60, iat: now - 60 })).toBe('taken')
  expect(await verdict({ exp: now + 60 })).toBe('taken')
})

describe('the attack table through an external issuer', () => {
  test('is refused, row by row, and no address in a token is fetched', async () => {
    const pair = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })
    const { privateKey: private_key, publicKey: public_key } = pair
    const key: SigningKey = { kid: 'theirs', jwk: {}, private_key, public_key }
    const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'theirs' }] })
    const requests: string[] = []
    await using server = await serve((request, response) => {
      requests.push(request.url ?? '')
      response.end(jwks)
    })
    const at = server.origin
    const setting = {
      issuer: at,
      audience: at,
      jwks_uri: `${at}/jwks`,
      scopes: { 'agents:read': 'agents:read' },
    }
    await using home = await trust(setting, { cooldown_ms: 0 })

    const rows = await forgeries(key, at, Date.now())
    const verdicts: Record<string, string> = {}
    for (const { name, token } of rows) verdicts[name] = await codeOf(home.authenticate(token))
    // Rows about this gateway's own claims do not apply to tokens of other issuers.
    const theirs = ['a scope that is a list', 'namespaces that are text']
    expect(verdicts).toEqual(
      Object.fromEntries(rows.map(({ name }) => [name, theirs.includes(name) ? 'taken' : 'unauthenticated'])),
    )
    const all = await spellings(key, at, Date.now)
    const taken = await Promise.all(all.map((token) => codeOf(home.authenticate(token))))
    expect(taken.filter((first) => first === 'taken')).toHaveLength(1)

    const valid = await new SignJWT({ scope: 'admin' })
      .setProtectedHeader({
        alg: 'EdDSA',
        typ: 'at+jwt',
        kid: 'theirs',
        jku: `${at}/evil`,
        x5u: `${at}/evil`,
      })
      .setIssuer(at)
      .setAudience(at)
      .setSubject('eve')
      .setJti('1')
      .setExpirationTime('1h')
      .sign(pair.privateKey)
    const principal = (await home.authenticate(valid)) as { scopes: Set<string> }
    expect([...principal.scopes]).toEqual([])
    expect(new Set(requests)).toEqual(new Set(['/jwks']))
  })
})

describe('the setting', () => {
  const good = entry('https://login.example')
  test.each<[string, unknown, string]>([
    ['text', 'nothing/here.json', 'nothing/here.json cannot be read'],
    ['broken JSON', '[{', 'not JSON'],
    ['an issuer without https', [{ ...good, issuer: 'http://login.example' }], '/0/issuer: Use https'],
    ['an issuer without audience', [{ ...good, audience: undefined }], '/0/audience'],
    ['a shared secret', [{ ...good, algorithms: ['HS256'] }], 'asymmetric'],
    ['no signature', [{ ...good, algorithms: ['none'] }], 'asymmetric'],
    ['a wildcard', [{ ...good, scopes: { '*': 'admin' } }], 'Wildcards'],
    ['a half wildcard', [{ ...good, scopes: { 'registry:*': 'agents:read' } }], 'Wildcards'],
    ['a scope that is none', [{ ...good, scopes: { a: 'root' } }], '/0/scopes/a'],
    ['no scopes', [{ ...good, scopes: undefined }], '/0/scopes'],
    ['a field that is none', [{ ...good, alg: 'x' }], 'alg'],
    ['an issuer twice', [good, good], 'named twice'],
  ])('refuses %s at the start, and names the entry', async (_, setting, words) => {
    const text = typeof setting === 'string' ? setting : JSON.stringify(setting)
    await expect(startGateway({ DRAGOMAN_ISSUERS: text })).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(words),
    })
  })

  test('refuses an issuer that is this gateway itself', async () => {
    const environment = {
      DRAGOMAN_BASE_URL: 'https://login.example',
      DRAGOMAN_ISSUERS: JSON.stringify([good]),
    }
    await expect(startGateway(environment)).rejects.toMatchObject({ code: 'invalid_request' })
  })
})
