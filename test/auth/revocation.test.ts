import { once } from 'node:events'
import { request } from 'node:http'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { afterAll, describe, expect, test } from 'vitest'
import { localIssuer } from '../../schemas/identity.ts'
import { Revocations } from '../../src/auth/revocations.ts'
import { run } from '../support/command.ts'
import { startGateway } from '../support/gateway.ts'
import { openSocket } from '../support/socket.ts'

const home = await startGateway()
afterAll(() => home[Symbol.asyncDispose]())

const revoke = (token: string, params: object) =>
  home.request('POST', '/a2a/message', { token, body: { to: 'svc.registry', action: 'revoke', params } })
const holds = async (token: string, at = home) =>
  (await at.request('GET', '/api/agents', { token })).status === 200

describe('a revoked token', () => {
  test('ends at once by its holder, although it was used a moment ago, and its sisters live on', async () => {
    const [first, two] = [await home.token('ada'), await home.token('ada')]
    expect(await holds(first)).toBe(true)
    expect((await revoke(two, { token: first })).json).toEqual({ revoked: 'jti' })
    expect([await holds(first), await holds(two)]).toEqual([false, true])
  })

  test('may be the token of the request itself, by its id', async () => {
    const token = await home.token('self')
    const { jti, exp = 0 } = decodeJwt(token)
    expect((await revoke(token, { jti })).status).toBe(200)
    expect(await holds(token)).toBe(false)
    const stored = await home.gateway.store.identity.revocations(Date.now())
    expect(stored.find((first) => first.name === jti)?.expires_at).toBe((exp + 86_400) * 1000)
  })

  test('can be revoked by no other caller but an admin', async () => {
    const token = await home.token('victim')
    const other = await home.token('stranger')
    const { jti } = decodeJwt(token)
    expect((await revoke(other, { token })).json).toMatchObject({ code: 'forbidden', scope: 'admin' })
    expect((await revoke(other, { jti })).json).toMatchObject({ code: 'forbidden', scope: 'admin' })
    expect(await holds(token)).toBe(true)
    const admin = await home.token('root', { scopes: ['admin'] })
    expect((await revoke(admin, { jti })).status).toBe(200)
    expect(await holds(token)).toBe(false)
  })

  test('leaves the token of who signs in again within the same second', async () => {
    const admin = await home.token('root', { scopes: ['admin'] })
    const before = await home.token('again')
    await revoke(admin, { subject: 'again' })
    expect([await holds(before), await holds(await home.token('again'))]).toEqual([false, true])
  })

  test('closes the sockets that it opened with 1008, and no others, before they ask again', async () => {
    const [first, two] = [await home.token('bob'), await home.token('bob')]
    await using closing = await openSocket(`${home.url}/rpc`, ['jsonrpc', `bearer.${first}`])
    await using lostToo = await openSocket(`${home.url}/mcp/ws`, ['mcp', `bearer.${first}`])
    await using stored = await openSocket(`${home.url}/rpc`, ['jsonrpc', `bearer.${two}`])
    await using anonymous = await openSocket(`${home.url}/rpc`, ['jsonrpc'])
    const closed = Promise.all([closing, lostToo].map((peer) => once(peer.socket, 'close')))
    await revoke(two, { token: first })
    expect((await closed).map(([code]) => code)).toEqual([1008, 1008])
    for (const peer of [stored, anonymous]) {
      peer.send({ jsonrpc: '2.0', id: 1, method: 'registry.search_agents', params: {} })
      expect(await peer.answer(1)).toHaveProperty('result')
    }
  })

  test.each<[string, object]>([
    ['/api/keys', {}],
    ['/a2a/message', { to: 'svc.registry', action: 'create_key' }],
    ['/rpc', { jsonrpc: '2.0', id: 1, method: 'registry.create_key' }],
    [
      '/mcp',
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'call_agent', arguments: { package_name: 'svc.registry', action: 'create_key' } },
      },
    ],
  ])('gets nothing from %s by a body that it sends slowly', async (path, message) => {
    const subject = `slow ${path}`
    const [first, two] = [await home.token(subject), await home.token(subject)]
    expect(await holds(first)).toBe(true)
    const slow = request(`${home.url}${path}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        Authorization: `Bearer ${first}`,
      },
    })
    const answered = once(slow, 'response')
    const text = JSON.stringify(message)
    slow.write(text.slice(0, 1))
    // What is asked on another connection later is answered later.
    await holds(two)
    await revoke(two, { token: first })
    slow.end(text.slice(1))
    const [response] = await answered
    const body = (await response.toArray()).join('')
    expect(body).toContain('unauthenticated')
    const { json } = await home.request('GET', '/api/keys', { token: two })
    expect(json.keys).toEqual([])
  })

  test('is refused by every other process within two seconds, its sockets too', async () => {
    await using other = await startGateway({ DRAGOMAN_DATA: home.data })
    const token = await home.token('far')
    await using peer = await openSocket(`${other.url}/rpc`, ['jsonrpc', `bearer.${token}`])
    expect(await holds(token, other)).toBe(true)
    const closed = once(peer.socket, 'close')
    await revoke(token, { token })
    expect((await closed)[0]).toBe(1008)
    expect(await holds(token, other)).toBe(false)
  })
})

describe('a revoked subject', () => {
  test('loses the tokens and keys issued before, and keeps those issued after', async () => {
    let now = Date.now()
    await using dated = await startGateway({}, { clock: () => now })
    const before = await dated.token('ada')
    const { key } = (await dated.request('POST', '/api/keys', { token: before })).json
    const other = await dated.token('bob')
    now += 5000
    const body = { to: 'svc.registry', action: 'revoke', params: { subject: 'ada' } }
    const refused = await dated.request('POST', '/a2a/message', { token: other, body })
    expect(refused.json.code).toBe('forbidden')
    expect((await dated.request('POST', '/a2a/message', { token: before, body })).json).toEqual({
      revoked: 'subject',
    })
    expect([await holds(before, dated), await holds(key, dated), await holds(other, dated)]).toEqual([
      false,
      false,
      true,
    ])
    now += 1000
    const later = await dated.token('ada')
    expect(await holds(later, dated)).toBe(true)
    await dated.request('POST', '/api/keys', { token: later })
    const listed = await dated.request('GET', '/api/keys', { token: later })
    const at = new Date(now - 1000).toISOString()
    expect(listed.json.keys).toMatchObject([{ revoked: null }, { revoked: { at, reason: null } }])
    const admin = {
      DRAGOMAN_URL: dated.url,
      DRAGOMAN_TOKEN: await dated.token('root', { scopes: ['admin'] }),
    }
    const { stdout } = await run(['apikey', 'list'], admin)
    expect(stdout.split('\n')).toEqual([
      expect.stringContaining(' ada until '),
      expect.stringContaining(` ada not valid: all of ada was revoked at ${at}: `),
      '',
    ])
  })

  test('loses tokens issued in the same millisecond, too', async () => {
    await using still = await startGateway({}, { clock: () => 1_795_000_000_000 })
    const token = await still.token('ada')
    const { key } = (await still.request('POST', '/api/keys', { token })).json
    const body = { to: 'svc.registry', action: 'revoke', params: { subject: 'ada' } }
    expect((await still.request('POST', '/a2a/message', { token, body })).status).toBe(200)
    expect([await holds(token, still), await holds(key, still)]).toEqual([false, false])
  })
})

describe('a revoked signing key', () => {
  test('takes every token that it signed, another one signs at once, and the issuer keeps its name', async () => {
    await using gone = await startGateway()
    const admin = await gone.token('root', { scopes: ['admin'] })
    const { kid } = decodeProtectedHeader(admin)
    const { name } = gone.gateway.identity.ring
    const body = { to: 'svc.registry', action: 'revoke', params: { kid, reason: 'leaked' } }
    expect((await gone.request('POST', '/a2a/message', { token: admin, body })).json).toEqual({
      revoked: 'kid',
    })
    expect(await holds(admin, gone)).toBe(false)
    const fresh = await gone.token('root')
    expect(decodeProtectedHeader(fresh).kid).not.toBe(kid)
    expect(decodeJwt(fresh).iss).toBe(name)
    expect(await holds(fresh, gone)).toBe(true)
    const { keys } = (await gone.request('GET', '/.well-known/jwks.json')).json
    expect(keys.map((key: { kid: string }) => key.kid)).not.toContain(kid)
  })
})

describe('the command line', () => {
  const dragoman = async (...words: string[]) => {
    const { code, stdout, stderr } = await run(words, { DRAGOMAN_DATA: home.data })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    return stdout.trim()
  }

  test('makes a key that a running gateway takes, lists it and deletes it', async () => {
    const key = await dragoman('apikey', 'create', '--sub', 'cli', '--scope', 'agents:read', '--ttl', '1h')
    expect(key).toMatch(/^drg_/)
    expect(await holds(key)).toBe(true)
    const { keys } = JSON.parse(await dragoman('apikey', 'list', '--json'))
    const id = key.slice(0, 12)
    expect(keys).toEqual([expect.objectContaining({ id, subject: 'cli', scopes: ['agents:read'] })])
    await using peer = await openSocket(`${home.url}/rpc`, ['jsonrpc', `bearer.${key}`])
    const closed = once(peer.socket, 'close')
    await dragoman('apikey', 'delete', id)
    expect((await closed)[0]).toBe(1008)
  }, 30_000)

  test('revokes a token, whole or by its id, for a running gateway', async () => {
    for (const name of ['whole', 'by id'] as const) {
      const token = await home.token('somebody')
      await using peer = await openSocket(`${home.url}/rpc`, ['jsonrpc', `bearer.${token}`])
      const closed = once(peer.socket, 'close')
      await dragoman('token', 'revoke', name === 'whole' ? token : (decodeJwt(token).jti ?? ''))
      expect((await closed)[0]).toBe(1008)
      expect(await holds(token)).toBe(false)
    }
  }, 30_000)

  test('revokes all that a subject has, and nothing of others', async () => {
    const [token, other] = [await home.token('leaver'), await home.token('stayer')]
    const key = await dragoman('apikey', 'create', '--sub', 'leaver')
    await dragoman('token', 'revoke', '--sub', 'leaver', '--reason', 'left the team', '--json')
    await expect.poll(() => holds(token), { timeout: 3000 }).toBe(false)
    expect([await holds(key), await holds(other)]).toEqual([false, true])
    const { code, stderr } = await run(['token', 'revoke'], { DRAGOMAN_DATA: home.data })
    expect([code, stderr]).toEqual([2, expect.stringContaining('Give a token or its id, or --sub NAME')])
  }, 30_000)
})

test('revocations are loaded before the first request after a start', async () => {
  const token = await home.token('before')
  await revoke(token, { token })
  await using later = await startGateway({ DRAGOMAN_DATA: home.data })
  expect(await holds(token, later)).toBe(false)
})

const row = { kind: 'jti', issuer: localIssuer, name: '1', before: 0, expires_at: 1, reason: null } as const
const principal = {
  issuer: localIssuer,
  subject: 'x',
  scopes: new Set([]),
  namespaces: [],
  credential: { issued_at: 1, jti: '1', kid: 'k' },
}

test('a failed read is repeated, although there is no further commit', async () => {
  const faults: string[] = []
  const { promise: changed, resolve } = Promise.withResolvers<void>()
  let [reads, woken] = [0, 0]
  await using revocations = await Revocations.open({
    store: {
      async revocations() {
        reads += 1
        if (reads === 2) throw new Error('The disk is gone.')
        return reads > 2 ? [row] : []
      },
      revoke: async () => {},
      endKey: async () => {},
    },
    async *wake(signal) {
      woken += 1
      if (woken === 1) throw new Error('Nobody can wake.')
      yield
      if (!signal.aborted) await once(signal, 'abort')
    },
    clock: () => 0,
    onError: (fault) => void faults.push(String(fault)),
    rest_ms: 1,
  })
  revocations.onChange(resolve)
  expect(revocations.revoked(principal)).toBe(false)
  await changed
  expect(revocations.revoked(principal)).toBe(true)
  expect(faults).toEqual(['Error: Nobody can wake.', 'Error: The disk is gone.'])
})

test('an overtaken read does not revive a revoked token', async () => {
  /** A read that began before the revocation, and ends after it. */
  const early = Promise.withResolvers<readonly []>()
  const begun = Promise.withResolvers<void>()
  let reads = 0
  await using revocations = await Revocations.open({
    store: {
      async revocations() {
        reads += 1
        if (reads === 1) return []
        if (reads > 2) return [row]
        begun.resolve()
        return await early.promise
      },
      revoke: async () => {},
      endKey: async () => {},
    },
    async *wake(signal) {
      yield
      if (!signal.aborted) await once(signal, 'abort')
    },
    clock: () => 0,
    onError: () => {},
  })
  await begun.promise
  await revocations.revoke(row)
  expect(revocations.revoked(principal)).toBe(true)
  early.resolve([])
  await new Promise((resolve) => setImmediate(resolve))
  expect(revocations.revoked(principal)).toBe(true)
})
