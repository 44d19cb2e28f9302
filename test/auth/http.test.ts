import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { type CryptoKey, generateKeyPair, SignJWT } from 'jose'
import { afterAll, describe, expect, test } from 'vitest'
import { createLogger } from '../../src/telemetry/log.ts'
import { forgeries, spellings } from '../support/forgery.ts'
import { signerOf, startGateway } from '../support/gateway.ts'
import { openSocket, Refused } from '../support/socket.ts'

const lines: string[] = []
const home = await startGateway(
  {},
  { log: createLogger('trace', { write: (line) => void lines.push(line) }) },
)
afterAll(() => home[Symbol.asyncDispose]())

const chosen = [
  'alg none',
  'HS256 with the public key as PEM',
  "somebody else's key, embedded",
  'a kid that is a path',
  'no kid',
  'another audience',
  'expired long ago',
  'no exp',
  'a tampered payload',
  'five parts',
  'a sound token of nine thousand characters',
]

describe('a forged token', () => {
  test.each(chosen)('(%s) is 401 and a challenge, on a public path too', async (name) => {
    const { key, issuer } = await signerOf(home)
    const forged = await forgeries(key, issuer, Date.now())
    const token = forged.find((forgery) => forgery.name === name)?.token ?? ''
    for (const [method, path] of [
      ['GET', '/public/agents'],
      ['POST', '/api/agents/publish'],
      ['POST', '/mcp'],
    ] as const) {
      const answer = await home.request(method, path, { token, ...(method === 'POST' && { body: {} }) })
      expect([path, answer.status]).toEqual([path, 401])
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer .*error="invalid_token"/)
      expect(answer.text).toContain('unauthenticated')
    }
    await expect(openSocket(`${home.url}/rpc`, ['jsonrpc', `bearer.${token}`])).rejects.toMatchObject({
      status: 401,
    })
  })
})

describe('a challenge', () => {
  test('without a token is bare, and with one that lacks a scope names it', async () => {
    const bare = await home.request('POST', '/api/agents/publish', { body: {} })
    expect(bare.status).toBe(401)
    expect(bare.headers.get('www-authenticate')).toMatch(/^Bearer/)
    expect(bare.headers.get('www-authenticate')).not.toContain('error=')

    const token = await home.token('reader', { scopes: ['agents:read'] })
    const lacking = await home.request('POST', '/api/agents/publish', { token, body: {} })
    expect([lacking.status, lacking.json.code, lacking.json.scope]).toEqual([
      403,
      'forbidden',
      'agents:write',
    ])
    const challenge = lacking.headers.get('www-authenticate')
    expect(challenge).toContain('error="insufficient_scope"')
    expect(challenge).toContain('scope="agents:write"')
  })

  test.each([
    ['POST', '/a2a/discover', { query: 'x' }, 'agents:read'],
    ['POST', '/a2a/utility/reader', { input: { url: 'https://example.com' } }, 'a2a:call'],
    ['PUT', '/api/agents/x.y', {}, 'agents:write'],
    ['DELETE', '/api/agents/x.y', undefined, 'agents:write'],
    ['POST', '/api/agents/x.y/go-live', {}, 'agents:publish'],
    ['POST', '/api/agents/x.y/unpublish', {}, 'agents:publish'],
    ['POST', '/api/playground/session', {}, 'playground'],
  ])('%s %s asks for its scope', async (method, path, body, scope) => {
    const token = await home.token('nobody', { scopes: [] })
    const { status, json } = await home.request(method, path, { token, body })
    expect([status, json.code, json.scope]).toEqual([403, 'forbidden', scope])
  })
})

test('a token that names a key address is checked with the gateway’s own keys, without a fetch', async () => {
  const { key, issuer } = await signerOf(home)
  let calls = 0
  const listener = createServer((socket) => {
    calls += 1
    socket.destroy()
  })
  await once(listener.listen(0, '127.0.0.1'), 'listening')
  const there = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/jwks`
  const sign = (by: CryptoKey) =>
    new SignJWT({ scope: 'agents:read' })
      .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid: key.kid, jku: there, x5u: there })
      .setIssuer(issuer)
      .setAudience(issuer)
      .setSubject('ada')
      .setJti('1')
      .setExpirationTime('1h')
      .sign(by)
  const foreign = await generateKeyPair('EdDSA', { crv: 'Ed25519' })
  const statuses = [await sign(key.private_key), await sign(foreign.privateKey)].map(
    async (token) => (await home.request('GET', '/api/agents', { token })).status,
  )
  expect(await Promise.all(statuses)).toEqual([200, 401])
  expect(calls).toBe(0)
  listener.close()
})

test('a token is accepted in one encoding only', async () => {
  const { key, issuer } = await signerOf(home)
  const all = await spellings(key, issuer, Date.now)
  const statuses = await Promise.all(
    all.map(async (token) => (await home.request('GET', '/api/agents?mine=true', { token })).status),
  )
  expect(statuses.toSorted()).toEqual([200, ...Array(15).fill(401)])
})

test('a token that expires while a socket is open ends it', async () => {
  let now = Date.now()
  await using dated = await startGateway({}, { clock: () => now })
  const token = await dated.token('ada', { ttl_s: 60 })
  await using peer = await openSocket(`${dated.url}/rpc`, ['jsonrpc', `bearer.${token}`])
  peer.send({ jsonrpc: '2.0', id: 1, method: 'registry.search_agents', params: { filters: { mine: true } } })
  expect(await peer.answer(1)).toMatchObject({ result: { total: 0 } })
  const closed = new Promise<number>((resolve) => peer.socket.once('close', resolve))
  now += 120_000
  peer.send({ jsonrpc: '2.0', id: 2, method: 'registry.search_agents', params: {} })
  expect(await closed).toBe(1008)
})

test('no token appears in any log line, whatever its outcome', async () => {
  const token = await home.token('secretive')
  const { key, issuer } = await signerOf(home)
  const forged = (await forgeries(key, issuer, Date.now())).filter(
    (forgery) => forgery.token.length > 40 && /^[\w.-]+$/.test(forgery.token),
  )
  lines.length = 0
  for (const forgery of [
    token,
    ...forged.map((forgery) => forgery.token).filter((text) => text.length < 9000),
  ]) {
    await home.request('GET', '/public/agents', { token: forgery })
    await home.request('POST', '/a2a/message', {
      token: forgery,
      body: { to: 'svc.registry', action: 'get_agent', params: { agent: 'x.y' } },
    })
    await openSocket(`${home.url}/rpc`, ['jsonrpc', `bearer.${forgery}`]).then(
      (peer) => peer[Symbol.asyncDispose](),
      (fault) => expect(fault).toBeInstanceOf(Refused),
    )
  }
  const body = { to: 'svc.registry', action: 'nothing', params: { token, authorization: `Bearer ${token}` } }
  await home.request('POST', '/a2a/message', { body })
  expect(lines.length).toBeGreaterThan(2)
  const log = lines.join('')
  expect(log).toContain('secretive')
  for (const secret of [token, ...forged.map((forgery) => forgery.token)]) {
    expect(log).not.toContain(secret)
    const signature = secret.split('.')[2]
    if (signature && signature.length > 40) expect(log).not.toContain(signature)
  }
})
