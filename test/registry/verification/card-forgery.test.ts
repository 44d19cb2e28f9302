import { createHmac, createPublicKey } from 'node:crypto'
import canonicalize from 'canonicalize'
import fc from 'fast-check'
import type { JWK } from 'jose'
import { describe, expect, test } from 'vitest'
import { signCard } from '../../../src/registry/verification/card-signature.ts'
import { refusalOf } from '../../../src/registry/verification/json-limits.ts'
import { check, encodeHeader, fullCard, makeKey, openCard } from './cards.ts'

describe('a signature that confuses', () => {
  const hmac = (secret: Buffer | string, alg = 'HS256', kid = 'key-1') => {
    const header = encodeHeader({ alg, kid, typ: 'JOSE' })
    const payload = Buffer.from(canonicalize(fullCard)!).toString('base64url')
    const signature = createHmac('sha256', secret).update(`${header}.${payload}`).digest('base64url')
    return { ...fullCard, signatures: [{ protected: header, signature }] }
  }

  test('by a public key as the secret of HS256 is refused', async () => {
    const key = await makeKey('RS256')
    const pem = createPublicKey({ key: { ...key.jwk }, format: 'jwk' }).export({
      type: 'spki',
      format: 'pem',
    })
    for (const secret of [pem, Buffer.from(key.jwk.n!, 'base64url')]) {
      expect((await check(hmac(secret), key.jwk)).status).toBe('invalid')
    }
    const oct: JWK = {
      kty: 'oct',
      k: Buffer.from('secret').toString('base64url'),
      kid: 'key-1',
      alg: 'HS256',
    }
    expect((await check(hmac('secret'), oct)).status).toBe('invalid')
    expect((await check(hmac('secret', 'EdDSA'), oct)).status).toBe('invalid')
  })

  test.each(['none', 'nOnE', 'HS512', 'RS1', 'eddsa', 'Ed25519', '', null, 7])(
    'by alg %j is refused',
    async (alg) => {
      const key = await makeKey('EdDSA')
      const card = {
        ...fullCard,
        signatures: [{ protected: encodeHeader({ alg, kid: 'key-1' }), signature: '' }],
      }
      expect((await check(card, key.jwk)).status).toBe('invalid')
    },
  )

  test.each([
    ['crit', ['exp']],
    ['b64', false],
    ['jwk', { kty: 'OKP' }],
    ['x5c', ['AAAA']],
    ['x5u', 'https://example.com/'],
  ])('by the header parameter %s is refused, protected or not', async (name, value) => {
    const key = await makeKey('EdDSA')
    const { signatures } = await signCard(fullCard, key)
    const header = { alg: 'EdDSA', kid: 'key-1', typ: 'JOSE', [name]: value }
    const forged = { protected: encodeHeader(header), signature: signatures[0]!.signature }
    const open = { ...signatures[0], header: { [name]: value } }
    for (const entry of [forged, open]) {
      const result = await check({ ...fullCard, signatures: [entry] }, key.jwk)
      expect(result).toMatchObject({ status: 'invalid' })
      expect(result.detail).toContain(name)
    }
  })

  test('by what no signature is, is refused', async () => {
    const key = await makeKey('EdDSA')
    const good = (await signCard(fullCard, key)).signatures[0]!
    const entries = [
      null,
      7,
      'text',
      [],
      {},
      { ...good, protected: 7 },
      { ...good, protected: '' },
      { ...good, protected: '!!!' },
      { ...good, protected: encodeHeader([]) },
      { ...good, protected: encodeHeader({ alg: 'EdDSA' }) },
      { ...good, protected: encodeHeader({ alg: 'EdDSA', kid: 'k'.repeat(201) }) },
      { ...good, protected: encodeHeader({ alg: 'EdDSA', kid: 'key-1', jku: 7 }) },
      { ...good, protected: `${good.protected}${'A'.repeat(5000)}` },
      { ...good, signature: '' },
      { ...good, signature: 7 },
      { ...good, signature: '!!!' },
      { ...good, signature: 'A'.repeat(3000) },
    ]
    for (const entry of entries) {
      expect((await check({ ...fullCard, signatures: [entry] }, key.jwk)).status, JSON.stringify(entry)).toBe(
        'invalid',
      )
    }
    for (const signatures of [null, {}, 'text', 7]) {
      expect((await check({ ...fullCard, signatures }, key.jwk)).status).toBe('invalid')
    }
  })

  test('is passed over for one that is good, of which eight are looked at', async () => {
    const key = await makeKey('EdDSA')
    const outsider = await makeKey('EdDSA', 'stranger')
    const [good] = (await signCard(openCard, key)).signatures
    const [foreign] = (await signCard(openCard, outsider)).signatures
    const after = (count: number) => ({
      ...openCard,
      signatures: [...Array.from({ length: count }, () => foreign), good],
    })
    expect((await check(after(7), key.jwk)).status).toBe('valid')
    expect((await check(after(8), key.jwk)).status).toBe('untrusted_key')
    expect((await check({ ...fullCard, signatures: [{}, foreign] }, key.jwk)).status).toBe('invalid')
  })
})

describe('a card that is hostile', () => {
  const nested = (depth: number) => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`)
  const signatures = [{ protected: encodeHeader({ alg: 'EdDSA', kid: 'key-1' }), signature: 'AAAA' }]

  test.each<[string, unknown]>([
    ['10,000 levels deep', nested(10_000)],
    ['a list 10,000 levels deep', JSON.parse('['.repeat(10_000) + ']'.repeat(10_000))],
    ['with a member __proto__', JSON.parse('{"__proto__":{"name":"x"}}')],
    ['with a list of 200,000', Array.from({ length: 200_000 }, () => 0)],
    ['with 300 KB of text', 'x'.repeat(300_000)],
    ['with a lone surrogate', 'a\ud800b'],
    ['with a lone surrogate for a name', { 'a\udc00': 1 }],
    ['with a number beyond a double', JSON.parse('1e999')],
    ['with what no JSON has', [Number.NaN, undefined, 1n, () => 1]],
  ])('%s is invalid', async (_, value) => {
    const key = await makeKey('EdDSA')
    const result = await check({ ...fullCard, value, signatures }, key.jwk)
    expect(result.status).toBe('invalid')
    expect(result.detail).toContain('cannot be checked')
  })

  test('and unsigned is just not signed', async () => {
    expect((await check(nested(10_000))).status).toBe('none')
    expect((await check({ ...fullCard, signatures: [] })).status).toBe('none')
  })

  test.each([null, [], 'text', 7, undefined])('%j is invalid', async (card) => {
    expect((await check(card)).status).toBe('invalid')
  })

  test('gets no help from names that objects have', async () => {
    const key = await makeKey('EdDSA')
    const card = await signCard(
      { ...fullCard, constructor: { prototype: 1 }, toString: 'x', toJSON: 'y' },
      key,
    )
    expect(await check(card, key.jwk)).toMatchObject({ status: 'valid', covers_all: true })
  })
})

describe('for every card', () => {
  const card = fc
    .dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 })
    .filter((members) => !('signatures' in members))

  test('what we sign is valid as a whole, and not with a member more', async () => {
    const key = await makeKey('EdDSA')
    await fc.assert(
      fc.asyncProperty(card, async (members) => {
        fc.pre(refusalOf(members) === null)
        const signed = JSON.parse(JSON.stringify(await signCard(members, key)))
        expect(await check(signed, key.jwk)).toMatchObject({ status: 'valid', covers_all: true })
        const forged = await check({ ...signed, 'one more': 1 }, key.jwk)
        expect(forged.covers_all ?? false).toBe(false)
      }),
    )
  })

  test('and every signature, there is an answer', async () => {
    const key = await makeKey('EdDSA')
    const header = fc.oneof(fc.string(), fc.jsonValue().map(encodeHeader))
    const entry = fc.oneof(fc.jsonValue(), fc.record({ protected: header, signature: fc.string() }))
    await fc.assert(
      fc.asyncProperty(card, fc.oneof(fc.jsonValue(), fc.array(entry)), async (members, signatures) => {
        const { status } = await check({ ...members, signatures }, key.jwk)
        expect(['none', 'invalid', 'untrusted_key']).toContain(status)
      }),
    )
  })
})
