import { afterAll, describe, expect, test } from 'vitest'
import { createLogger } from '../../src/telemetry/log.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { publication } from '../transports/cases.ts'

const lines: string[] = []
let now = Date.now()
const log = createLogger('trace', { write: (line) => void lines.push(line) })
const home = await startGateway({}, { log, clock: () => now })
afterAll(() => home[Symbol.asyncDispose]())

async function keyOf(subject: string, input: object = {}, grant: Parameters<TestGateway['token']>[1] = {}) {
  const token = await home.token(subject, grant)
  const { status, json } = await home.request('POST', '/api/keys', { token, body: input })
  expect(status).toBe(201)
  return json as { id: string; key: string; scopes: string[]; namespaces: string[]; expires_at: string }
}

describe('an API key', () => {
  test('acts as its creator, with the creator’s rights, for ninety days', async () => {
    const made = await keyOf('ada', { label: 'ci' }, { namespaces: ['com.ada'] })
    expect(made.key).toMatch(/^drg_[A-Za-z0-9]{8}_[\w-]{43}$/)
    expect(made.key.startsWith(`${made.id}_`)).toBe(true)
    expect(made.scopes).not.toContain('admin')
    expect(made.namespaces).toEqual(['com.ada'])
    expect(Date.parse(made.expires_at) - now).toBe(90 * 86_400_000)
    const published = await home.request('POST', '/api/agents/publish', {
      token: made.key,
      body: publication('com.ada.agent'),
    })
    expect(published.status).toBe(201)
    const mine = await home.request('GET', '/api/agents?mine=true', { token: await home.token('ada') })
    expect(mine.json.total).toBe(1)
  })

  test('may have fewer rights', async () => {
    const { key } = await keyOf('less', { scopes: ['agents:read'] })
    const body = publication('com.less.agent')
    const { status, json } = await home.request('POST', '/api/agents/publish', { token: key, body })
    expect([status, json.scope]).toEqual([403, 'agents:write'])
  })

  test('is shown once: neither the list nor the data nor the log has its secret', async () => {
    const { id, key } = await keyOf('once', { label: 'secretive' })
    const token = await home.token('once')
    const { json, text, headers } = await home.request('GET', '/api/keys', { token })
    expect(json.keys).toEqual([expect.objectContaining({ id, label: 'secretive', subject: 'once' })])
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('etag')).toBeNull()
    expect(text).not.toContain(key.slice(-43))
    const stored = JSON.stringify(await home.gateway.store.identity.key(id))
    expect(stored).not.toContain(key.slice(-43))
    await home.request('GET', '/api/agents', { token: key })
    await home.request('GET', '/api/agents', { token: `${key}x` })
    expect(lines.length).toBeGreaterThan(0)
    expect(lines.join('')).not.toContain(key.slice(-43))
  })

  test.each([
    ['with another secret', (key: string) => `${key.slice(0, 13)}${'A'.repeat(43)}`],
    ['with another id', (key: string) => `drg_AAAAAAAA${key.slice(12)}`],
    [
      'with its last character in another spelling',
      (key: string) => key.slice(0, -1) + other(key.at(-1) ?? ''),
    ],
    ['cut short', (key: string) => key.slice(0, -1)],
    ['with more behind it', (key: string) => `${key}A`],
    ['that is an id alone', (key: string) => key.slice(0, 12)],
  ])('%s is not accepted', async (_, forge) => {
    const { key } = await keyOf('forged')
    const answer = await home.request('GET', '/api/agents', { token: forge(key) })
    expect([answer.status, answer.json.code]).toEqual([401, 'unauthenticated'])
    expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"')
  })

  test('ends with its time, and at once when deleted, although it was used a moment ago', async () => {
    const token = await home.token('brief')
    const brief = await keyOf('brief', { ttl_s: 30 })
    const { id, key } = await keyOf('brief')
    for (const secret of [brief.key, key])
      expect((await home.request('GET', '/api/agents', { token: secret })).status).toBe(200)
    now += 31_000
    expect((await home.request('GET', '/api/agents', { token: brief.key })).status).toBe(401)
    expect((await home.request('GET', '/api/agents', { token: key })).status).toBe(200)
    expect((await home.request('DELETE', `/api/keys/${id}`, { token })).status).toBe(204)
    expect((await home.request('GET', '/api/agents', { token: key })).status).toBe(401)
    expect((await home.request('DELETE', `/api/keys/${id}`, { token })).status).toBe(404)
  })

  test('is visible to and deleted by only its owner and admins', async () => {
    const { id, key } = await keyOf('owner')
    const otherCaller = await home.token('stranger')
    const admin = await home.token('root', { scopes: ['admin'] })
    expect((await home.request('GET', '/api/keys', { token: otherCaller })).json.keys).toEqual([])
    expect((await home.request('DELETE', `/api/keys/${id}`, { token: otherCaller })).status).toBe(404)
    const all = await home.request('GET', '/api/keys', { token: admin })
    expect(all.json.keys.map((secret: { id: string }) => secret.id)).toContain(id)
    expect((await home.request('DELETE', `/api/keys/${id}`, { token: admin })).status).toBe(204)
    expect((await home.request('GET', '/api/agents', { token: key })).status).toBe(401)
  })

  test('of an admin has the scope admin only on request', async () => {
    const plain = await keyOf('root', {}, { scopes: ['admin'] })
    expect(plain.scopes).not.toContain('admin')
    const full = await keyOf('root', { scopes: ['admin'], namespaces: ['org.any'] }, { scopes: ['admin'] })
    expect(full.scopes).toEqual(['admin'])
  })

  test('without any scope, which could do nothing, is refused', async () => {
    const token = await home.token('empty')
    const { status, json } = await home.request('POST', '/api/keys', { token, body: { scopes: [] } })
    expect([status, json.code, json.errors[0].pointer]).toEqual([400, 'invalid_request', '/scopes'])
    expect(json.errors[0].detail).toContain('Leave scopes out for all of yours except admin.')
  })

  test('makes no other key that would outlive it, nor does a token obtained with it', async () => {
    const { id, key } = await keyOf('mother')
    const { json } = await home.request('POST', '/oauth/token', {
      body: 'grant_type=client_credentials',
      headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        Authorization: `Basic ${Buffer.from(`${id}:${key}`).toString('base64')}`,
      },
    })
    for (const token of [key, json.access_token]) {
      const answer = await home.request('POST', '/api/keys', { token })
      expect([answer.status, answer.json.code]).toEqual([403, 'forbidden'])
    }
    const token = await home.token('mother')
    expect((await home.request('GET', '/api/keys', { token })).json.keys).toHaveLength(1)
  })

  test('cannot be created by a playground session, and no owner can have more than a hundred', async () => {
    const session = await home.request('POST', '/api/playground/session')
    const refused = await home.request('POST', `/api/playground/session/${session.json.id}/execute`, {
      body: { agent: 'svc.registry', capability: 'create_key', input: {} },
    })
    expect([refused.status, refused.json.code]).toEqual([409, 'not_callable'])
    const token = await home.token('many')
    for (let made = 0; made < 100; made++) {
      expect((await home.request('POST', '/api/keys', { token })).status).toBe(201)
    }
    expect((await home.request('POST', '/api/keys', { token })).json.code).toBe('conflict')
  })
})

describe('a secret in an address', () => {
  test.each(['access_token', 'api_key', 'token', 'key', 'Api-Key', 'client_secret', 'anything'])(
    '(?%s=) is refused on every path, and repeated nowhere',
    async (name) => {
      const { key } = await keyOf(`careless-${name}`)
      const jwt = await home.token('careless')
      lines.length = 0
      for (const secret of [key, jwt]) {
        for (const [method, path] of [
          ['GET', '/public/agents'],
          ['POST', '/a2a/message'],
          ['POST', '/rpc'],
          ['POST', '/mcp'],
          ['POST', '/oauth/token'],
          ['GET', '/healthz'],
          ['GET', '/nothing/here'],
          ['PATCH', '/api/agents'],
        ] as const) {
          const answer = await home.request(method, `${path}?${name}=${encodeURIComponent(secret)}`)
          expect([path, answer.status, answer.json.code]).toEqual([path, 400, 'invalid_request'])
          expect(answer.text).toContain('Authorization: Bearer')
          expect(answer.text).not.toContain(secret.slice(-20))
        }
      }
      expect(lines.join('')).not.toContain(key.slice(-20))
      expect(lines.join('')).not.toContain(jwt.slice(-20))
    },
  )

  test('is refused as a part of a path, however it is written, and the name of a key is not', async () => {
    const { id, key } = await keyOf('pathetic')
    const token = await home.token('pathetic')
    lines.length = 0
    for (const [method, path] of [
      ['DELETE', `/api/keys/${key}`],
      ['DELETE', `/api/keys/%64${key.slice(1)}`],
      ['GET', `/api/agents/${token}`],
      ['GET', `/public/agents/x%00${token}`],
      ['GET', `/${key}?q=x`],
    ] as const) {
      const answer = await home.request(method, path, { token })
      expect([path, answer.status, answer.json.code]).toEqual([path, 400, 'invalid_request'])
      for (const secret of [key, token]) expect(answer.text).not.toContain(secret.slice(-20))
    }
    for (const secret of [key, token]) expect(lines.join('')).not.toContain(secret.slice(-20))
    expect((await home.request('GET', '/api/agents/%E0%A4%A')).status).toBe(400)
    expect((await home.request('DELETE', `/api/keys/${id}`, { token })).status).toBe(204)
  })

  test('is refused as a name without a value, and a search for a word is none', async () => {
    const { key } = await keyOf('nameless')
    expect((await home.request('GET', `/public/agents?${key}`)).status).toBe(400)
    expect((await home.request('GET', '/public/agents?q=token')).status).toBe(200)
    const jwt = await home.token('nameless')
    for (const value of [`Bearer ${jwt}`, `"${jwt}"`, `a=${jwt}`])
      expect((await home.request('GET', `/public/agents?q=${encodeURIComponent(value)}`)).status).toBe(400)
  })
})

/** Two bits of the last of 43 characters are unused. */
function other(last: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return alphabet[alphabet.indexOf(last) ^ 1] ?? ''
}
