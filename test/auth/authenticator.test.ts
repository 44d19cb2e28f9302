import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { Failure } from '../../schemas/failure.ts'
import type { Scope } from '../../schemas/scope.ts'
import { principalOf } from '../../src/auth/bearer.ts'
import { mintToken } from '../../src/auth/issuer.ts'
import { authenticatorOf, loadSigningKey } from '../support/authenticator.ts'
import { temporaryFolder } from '../support/command.ts'
import { forgeries, spellings } from '../support/forgery.ts'

const start = Date.UTC(2026, 10, 1)
const folder = await temporaryFolder()
const key = await loadSigningKey(join(folder.path, 'keys', 'signing.json'))
const issuer = `urn:dragoman:${key.kid}`
const forged = await forgeries(key, issuer, start)
afterAll(() => folder[Symbol.asyncDispose]())

const mint = (ttl_s: number, scopes: Scope[] = ['agents:read'], at = start) =>
  mintToken(
    key,
    issuer,
    { subject: 'ada', scopes, namespaces: ['com.ada'], audience: [issuer], ttl_s },
    () => at,
  )

/** The failure's code, or who it was taken for. */
async function judge(work: () => unknown): Promise<string> {
  try {
    const principal = (await work()) as { subject: string }
    return `taken for ${principal.subject}`
  } catch (thrown) {
    return (thrown as Failure).code
  }
}

describe('an authenticator', () => {
  test('accepts no forged token, and gives no reason', async () => {
    expect(forged.length).toBeGreaterThan(50)
    const authenticate = authenticatorOf(key, issuer, () => start)
    const verdicts: Record<string, string> = {}
    for (const { name, token } of forged) verdicts[name] = await judge(() => authenticate(token))
    expect(verdicts).toEqual(Object.fromEntries(forged.map(({ name }) => [name, 'unauthenticated'])))
  })

  test('refuses every forged token in a header too', async () => {
    const authenticate = authenticatorOf(key, issuer, () => start)
    const verdicts: Record<string, string> = {}
    for (const { name, token } of forged) {
      verdicts[name] = await judge(() => principalOf(`Bearer ${token}`, authenticate, ''))
    }
    expect(verdicts).toEqual(Object.fromEntries(forged.map(({ name }) => [name, 'unauthenticated'])))
  })

  test('accepts its own tokens, with their subject and their rights', async () => {
    const authenticate = authenticatorOf(key, issuer, () => start)
    const principal = await authenticate(await mint(600, ['agents:read', 'a2a:call']))
    expect(principal).toEqual({
      issuer: 'urn:dragoman:local',
      subject: 'ada',
      scopes: new Set(['agents:read', 'a2a:call']),
      namespaces: ['com.ada'],
      expires_at: start / 1000 + 600,
      credential: { issued_at: start, jti: expect.any(String), kid: key.kid },
    })
  })

  test('takes a token in one spelling, though its signature has sixteen', async () => {
    const authenticate = authenticatorOf(key, issuer, () => start)
    const all = await spellings(key, issuer, () => start)
    expect(new Set(all).size).toBe(16)
    const verdicts = await Promise.all(all.map((token) => judge(() => authenticate(token))))
    expect(verdicts.toSorted()).toEqual(['taken for ada', ...Array(15).fill('unauthenticated')])
  })

  test('gives no scope that there is not', async () => {
    const authenticate = authenticatorOf(key, issuer, () => start)
    const token = await mint(600, ['agents:read', 'root' as Scope, 'ADMIN' as Scope])
    expect([...(await authenticate(token)).scopes]).toEqual(['agents:read'])
  })

  test('takes no token of another key or issuer', async () => {
    const other = await loadSigningKey(join(folder.path, 'other', 'signing.json'))
    const token = await mint(600)
    for (const [someKey, someIssuer] of [
      [other, issuer],
      [key, 'https://registry.example'],
    ] as const) {
      const authenticate = authenticatorOf(someKey, someIssuer, () => start)
      expect(await judge(() => authenticate(token))).toBe('unauthenticated')
    }
  })
})

describe('time', () => {
  test('a token holds to its end and five seconds more, remembered or not', async () => {
    let now = start
    const authenticate = authenticatorOf(key, issuer, () => now)
    const token = await mint(30)
    expect(await judge(() => authenticate(token))).toBe('taken for ada')
    now = start + 29_000
    expect(await judge(() => authenticate(token))).toBe('taken for ada')
    now = start + 34_000
    expect(await judge(() => authenticate(token))).toBe('taken for ada')
    now = start + 36_000
    expect(await judge(() => authenticate(token))).toBe('unauthenticated')
    const fresh = authenticatorOf(key, issuer, () => now)
    expect(await judge(() => fresh(token))).toBe('unauthenticated')
  })

  test('a cached token is accepted at once, for a minute, and then verified again', async () => {
    let now = start
    const authenticate = authenticatorOf(key, issuer, () => now)
    const token = await mint(3600)
    expect(authenticate(token)).toBeInstanceOf(Promise)
    const principal = await authenticate(token)
    expect(authenticate(token)).toBe(principal)
    now = start + 59_999
    expect(authenticate(token)).toBe(principal)
    now = start + 60_001
    const again = authenticate(token)
    expect(again).toBeInstanceOf(Promise)
    expect(await again).toEqual(principal)
  })

  test('a clock that jumps accepts nothing: forward it ends a token, back it has all of them verified again', async () => {
    let now = start
    const authenticate = authenticatorOf(key, issuer, () => now)
    const [token, later] = [await mint(600), await mint(600, ['agents:read'], start + 7_200_000)]
    const first = await authenticate(token)
    now = start + 86_400_000
    expect(await judge(() => authenticate(token))).toBe('unauthenticated')
    now = start - 86_400_000
    const again = authenticate(token)
    expect(again).toBeInstanceOf(Promise)
    expect(await again).toEqual(first)
    now = start + 7_200_000
    expect(await judge(() => authenticate(later))).toBe('taken for ada')
    expect(await judge(() => authenticate(token))).toBe('unauthenticated')
  })

  test('an expired token is reported as expired, without further details', async () => {
    const authenticate = authenticatorOf(key, issuer, () => start + 3_600_000)
    await expect(authenticate(await mint(1))).rejects.toMatchObject({
      code: 'unauthenticated',
      message: 'The token has expired.',
    })
  })
})

describe('a header', () => {
  test('is Bearer and one token, or it is refused; none is an anonymous caller', async () => {
    const authenticate = authenticatorOf(key, issuer, () => start)
    const token = await mint(600)
    const read = (header?: string) =>
      judge(async () => (await principalOf(header, authenticate, '')) ?? { subject: 'nobody' })
    expect(await read(undefined)).toBe('taken for nobody')
    expect(await read(`Bearer ${token}`)).toBe('taken for ada')
    expect(await read(`bearer   ${token}`)).toBe('taken for ada')
    for (const header of [
      '',
      'Bearer',
      'Bearer ',
      token,
      `Basic ${token}`,
      `Bearer ${token} x`,
      `Bearer ${token},Bearer ${token}`,
    ]) {
      expect(await read(header)).toBe('unauthenticated')
    }
  })
})
