import { generateKeyPairSync, sign } from 'node:crypto'
import canonicalize from 'canonicalize'
import type { JWK } from 'jose'
import { afterAll, describe, expect, test } from 'vitest'
import { createKeysOf } from '../../../src/registry/verification/card-keys.ts'
import { signCard, verifyCard } from '../../../src/registry/verification/card-signature.ts'
import { rejection, serve, serveRaw } from '../../net/support.ts'
import { check, domain, encodeHeader, fullCard, makeKey, mixedCard } from './cards.ts'
import { startSite } from './support.ts'

const { signal } = new AbortController()
const jwksFile = '/.well-known/jwks.json'

const site = await startSite()

afterAll(() => site[Symbol.asyncDispose]())

describe('keys', () => {
  test('are those of the verified domain, fetched once', async () => {
    await using own = await startSite()
    const key = await makeKey('EdDSA')
    own.put(jwksFile, JSON.stringify({ keys: [key.jwk] }))
    const card = await signCard(mixedCard, key)
    const keysOf = createKeysOf(own)
    expect(await verifyCard(card, { domain, keysOf }, signal)).toMatchObject({
      status: 'valid',
      covers_all: true,
    })
    expect(own.web.hits()).toBe(1)
    expect(await verifyCard(card, { domain: null, keysOf }, signal)).toMatchObject({
      status: 'untrusted_key',
    })
    expect(own.web.hits()).toBe(1)
  })

  test('at a jku of the same origin are fetched instead', async () => {
    await using own = await startSite()
    const key = await makeKey('EdDSA')
    own.put('/keys.json', JSON.stringify({ keys: [key.jwk] }))
    const card = await signCard(fullCard, { ...key, jku: `${own.web.origin}/keys.json` })
    expect(await verifyCard(card, { domain, keysOf: createKeysOf(own) }, signal)).toMatchObject({
      status: 'valid',
    })
    expect(own.web.hits()).toBe(1)
  })

  test('at a jku of another origin are never fetched', async () => {
    const key = await makeKey('EdDSA')
    await using evil = await serveRaw((socket) => socket.end())
    const keysOf = createKeysOf(site)
    const at = evil.origin.replace('http://', '')
    const urls = [
      `${evil.origin}/keys`,
      `${site.web.origin}@${at}/keys`,
      `//${at}/keys`,
      site.web.origin.replace('http', 'https'),
      'file:///etc/passwd',
      'keys',
      '',
    ]
    for (const jku of urls) {
      const card = await signCard(fullCard, { ...key, jku })
      const result = await verifyCard(card, { domain, keysOf }, signal)
      expect(result, jku).toMatchObject({ status: 'untrusted_key' })
      expect(result.detail).toContain('not fetched')
    }
    // Connections, whether or not a request came over them.
    expect(evil.hits()).toBe(0)
  })

  test('behind a redirect to another origin are not trusted', async () => {
    const key = await makeKey('EdDSA')
    await using evil = await serve((_, response) => response.end(JSON.stringify({ keys: [key.jwk] })))
    await using own = await startSite({ allow_origins: [evil.origin] })
    own.put(jwksFile, (_, response) => response.writeHead(302, { location: evil.origin }).end())
    const card = await signCard(fullCard, key)
    expect((await verifyCard(card, { domain, keysOf: createKeysOf(own) }, signal)).status).toBe(
      'untrusted_key',
    )
  })

  test.each([
    ['no key set', undefined],
    ['no JSON', '<html>'],
    ['JSON without keys', '{"keys":{}}'],
    ['null', 'null'],
    ['keys that are none', '{"keys":[null,1,"x",{}]}'],
    ['more than 64 KB', JSON.stringify({ keys: [], filler: 'x'.repeat(65 * 1024) })],
  ])('that cannot be had are not trusted: %s', async (_, body) => {
    await using own = await startSite()
    if (body !== undefined) own.put(jwksFile, body)
    const card = await signCard(fullCard, await makeKey('EdDSA'))
    const result = await verifyCard(card, { domain, keysOf: createKeysOf(own) }, signal)
    expect(result.status).toBe('untrusted_key')
    expect(result.detail).toMatch(/\.$/)
  })

  test('may rotate: the name says which, and two may bear one name', async () => {
    const old = await makeKey('EdDSA', 'old')
    const next = await makeKey('ES256', 'next')
    const twin = await makeKey('ES256', 'next')
    const card = await signCard(fullCard, next)
    expect((await check(card, old.jwk, next.jwk)).status).toBe('valid')
    expect((await check(card, twin.jwk, next.jwk)).status).toBe('valid')
    expect((await check(card, old.jwk)).status).toBe('untrusted_key')
    expect((await check(card, twin.jwk)).status).toBe('invalid')
  })

  test.each<[string, Partial<JWK>]>([
    ['another use', { use: 'enc' }],
    ['another algorithm', { alg: 'ES384' }],
    ['another operation', { key_ops: ['sign'] }],
    ['another curve', { crv: 'P-384' }],
    ['another kind', { kty: 'RSA' }],
    ['a broken point', { x: 'AAAA' }],
  ])('for %s do not verify', async (_, part) => {
    const key = await makeKey('ES256')
    const card = await signCard(fullCard, key)
    expect((await check(card, { ...key.jwk, ...part })).status).toBe('invalid')
    expect((await check(card, { ...key.jwk, use: 'sig', alg: 'ES256', key_ops: ['verify'] })).status).toBe(
      'valid',
    )
  })

  test('of RSA below 2048 bits do not verify', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
    const header = encodeHeader({ alg: 'RS256', kid: 'small', typ: 'JOSE' })
    const payload = Buffer.from(canonicalize(fullCard)!).toString('base64url')
    const signature = sign('sha256', Buffer.from(`${header}.${payload}`), privateKey).toString('base64url')
    const card = { ...fullCard, signatures: [{ protected: header, signature }] }
    const jwk = { ...(publicKey.export({ format: 'jwk' }) as JWK), kid: 'small' }
    expect((await check(card, jwk)).status).toBe('invalid')
  })
})

test('a caller who leaves ends it', async () => {
  await using own = await startSite()
  own.put(jwksFile, () => {})
  const controller = new AbortController()
  const card = await signCard(fullCard, await makeKey('EdDSA'))
  const checked = rejection(verifyCard(card, { domain, keysOf: createKeysOf(own) }, controller.signal))
  controller.abort(new Error('gone'))
  expect(await checked).toMatchObject({ message: 'gone' })
})
