import { createHmac, createPublicKey } from 'node:crypto'
import {
  AgentCard,
  canonicalizeAgentCard,
  generateAgentCardSignature,
  verifyAgentCardSignature,
} from '@a2a-js/sdk'
import canonicalize from 'canonicalize'
import type { JWK } from 'jose'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createKeysOf, type KeysOf } from '../../../src/registry/verification/card-keys.ts'
import { signCard, verifyCard } from '../../../src/registry/verification/card-signature.ts'
import { rejection, serve } from '../../net/support.ts'
import { altered, encodeHeader, fullCard, leavesOf, makeKey, signText } from './cards.ts'
import { type Site, startSite } from './support.ts'

const { signal } = new AbortController()
const domain = 'example.com'
const jwksFile = '/.well-known/jwks.json'

let site: Site

beforeAll(async () => {
  // The SDK prints every signature that it refuses.
  vi.spyOn(console, 'debug').mockImplementation(() => {})
  site = await startSite()
})

afterAll(async () => {
  vi.restoreAllMocks()
  await site?.[Symbol.asyncDispose]()
})

const publishing =
  (...keys: readonly JWK[]): KeysOf =>
  async () =>
    keys
const check = (card: unknown, ...keys: readonly JWK[]) =>
  verifyCard(card, { domain, keysOf: publishing(...keys) }, signal)

type Key = Awaited<ReturnType<typeof makeKey>>

/** Does the SDK accept the card, given as it is on the wire? Its types ask for one that is parsed. */
async function sdkAccepts(card: unknown, key: JWK): Promise<boolean> {
  return verifyAgentCardSignature(async () => key)(structuredClone(card) as AgentCard).then(
    () => true,
    () => false,
  )
}

/** Does it accept the card as its own client hands it over? */
const sdkClientAccepts = (card: unknown, key: JWK) => sdkAccepts(AgentCard.fromJSON(card), key)

/** The card with a signature by the SDK, over the card on the wire, or as its own server hands it over. */
async function sdkSigned<Card extends object>(card: Card, key: Key, form: 'wire' | 'parsed' = 'wire') {
  const sign = generateAgentCardSignature(key.private_key, { alg: key.alg, kid: key.kid, typ: 'JOSE' })
  const { signatures } = await sign(
    form === 'parsed' ? AgentCard.fromJSON(card) : (structuredClone(card) as AgentCard),
  )
  return { ...card, signatures: JSON.parse(JSON.stringify(signatures)) }
}

const { securitySchemes: _schemes, ...openCard } = fullCard

const strange = {
  ...fullCard,
  agent_id: 'custom.com.example.weather',
  url: 'https://example.com/a2a',
  preferredTransport: 'JSONRPC',
  protocolVersion: '0.3.0',
}

describe('a card that we sign', () => {
  test.each(['EdDSA', 'ES256'])('with %s is valid here and for the SDK', async (alg) => {
    const key = await makeKey(alg)
    const card = await signCard(openCard, key)
    expect(card.signatures).toHaveLength(1)
    expect(JSON.parse(Buffer.from(card.signatures[0]!.protected, 'base64url').toString())).toEqual({
      alg,
      kid: 'key-1',
      typ: 'JOSE',
    })
    expect(await sdkAccepts(card, key.jwk)).toBe(true)
    expect(await sdkClientAccepts(card, key.jwk)).toBe(true)
    expect(await check(card, key.jwk)).toEqual({
      status: 'valid',
      kid: 'key-1',
      covers_all: true,
      unsigned: [],
      detail: 'The whole card is signed.',
    })
  })

  test('with security schemes is signed once more, since the client of the SDK loses them', async () => {
    const key = await makeKey('EdDSA')
    const card = await signCard(fullCard, key)
    expect(card.signatures).toHaveLength(2)
    expect(await sdkAccepts(card, key.jwk)).toBe(true)
    expect(await sdkClientAccepts(card, key.jwk)).toBe(true)
    expect(await check(card, key.jwk)).toMatchObject({ status: 'valid', covers_all: true })
    expect(await check({ ...card, signatures: [card.signatures[0]] }, key.jwk)).toMatchObject({
      status: 'valid',
      covers_all: false,
      unsigned: ['/securitySchemes'],
    })
  })

  test('with members that A2A does not define is signed once more, whole', async () => {
    const key = await makeKey('EdDSA')
    const card = await signCard({ ...strange, signatures: [{ protected: 'old', signature: 'old' }] }, key)
    expect(card.signatures).toHaveLength(3)
    expect(await sdkAccepts(card, key.jwk)).toBe(true)
    expect(await sdkClientAccepts(card, key.jwk)).toBe(true)
    expect(await check(card, key.jwk)).toMatchObject({ status: 'valid', covers_all: true })
    expect(await check({ ...card, signatures: card.signatures.slice(0, 2) }, key.jwk)).toMatchObject({
      status: 'valid',
      covers_all: false,
      unsigned: ['/agent_id', '/url', '/preferredTransport', '/protocolVersion'],
    })
  })

  test('with empty members is valid here and for the SDK', async () => {
    const key = await makeKey('ES256')
    const card = await signCard({ ...fullCard, description: '', skills: [], iconUrl: '' }, key)
    expect(await sdkAccepts(card, key.jwk)).toBe(true)
    expect(await check(card, key.jwk)).toMatchObject({ status: 'valid', covers_all: true })
  })

  test('may say where its keys are', async () => {
    const key = await makeKey('EdDSA')
    const card = await signCard(fullCard, { ...key, jku: 'https://example.com/keys' })
    expect(Buffer.from(card.signatures[0]!.protected, 'base64url').toString()).toContain(
      'https://example.com/keys',
    )
  })

  test('needs a key of a kind that signs cards, and a card with a canonical form', async () => {
    const { private_key } = await makeKey('ES384')
    expect(await rejection(signCard(fullCard, { private_key, kid: 'x' }))).toMatchObject({
      code: 'invalid_request',
    })
    const key = await makeKey('EdDSA')
    expect(await rejection(signCard({ name: '\ud800' }, key))).toMatchObject({ code: 'invalid_request' })
  })
})

describe('a card that the SDK signs', () => {
  test.each(['EdDSA', 'ES256', 'ES384', 'RS256', 'PS256'])('with %s is valid here', async (alg) => {
    const key = await makeKey(alg)
    const card = await sdkSigned(fullCard, key)
    expect(await check(card, key.jwk)).toMatchObject({ status: 'valid', covers_all: true })
  })

  test('in its own server is valid here, and the security schemes that it loses are told', async () => {
    const key = await makeKey('EdDSA')
    const card = await sdkSigned(fullCard, key, 'parsed')
    expect(await check(card, key.jwk)).toMatchObject({
      status: 'valid',
      covers_all: false,
      unsigned: ['/securitySchemes'],
    })
    const plain = await sdkSigned(openCard, key, 'parsed')
    expect(await check(plain, key.jwk)).toMatchObject({ status: 'valid', covers_all: true })
  })

  test('is valid though it has empty members, and names without content are told', async () => {
    const key = await makeKey('EdDSA')
    const empties = {
      ...fullCard,
      description: '',
      skills: [{ ...fullCard.skills[0], tags: ['a', ''], examples: [] }],
      capabilities: { extensions: [{ uri: 'x', required: false, params: { flag: null, no: [] } }] },
      securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    }
    const card = await sdkSigned(empties, key)
    expect(await check(card, key.jwk)).toMatchObject({
      status: 'valid',
      covers_all: false,
      unsigned: ['/capabilities/extensions/0/params', '/securityRequirements'],
    })
    const { securityRequirements: _requirements, ...rest } = card
    const plain = altered(rest, ['capabilities', 'extensions', 0, 'params'], () => undefined)
    expect(await check(plain, key.jwk)).toMatchObject({ status: 'valid', covers_all: true })
  })

  test('is valid with members that the SDK passes over, and they are told', async () => {
    const key = await makeKey('EdDSA')
    const card = await sdkSigned(
      {
        ...fullCard,
        'a/b~c': 1,
        capabilities: [{ name: 'seed' }],
        securitySchemes: {
          two: { apiKeySecurityScheme: { name: 'first' }, mtlsSecurityScheme: { description: 'second' } },
          bearer: { httpAuthSecurityScheme: { scheme: 'Bearer', extra: true } },
        },
      },
      key,
    )
    const result = await check(card, key.jwk)
    expect(result).toMatchObject({ status: 'valid', covers_all: false })
    expect(result.unsigned?.toSorted()).toEqual([
      '/a~1b~0c',
      '/capabilities',
      '/securitySchemes/bearer/httpAuthSecurityScheme/extra',
      '/securitySchemes/two/mtlsSecurityScheme',
    ])
  })

  test('has the same bytes here', async () => {
    const key = await makeKey('EdDSA')
    const mine = await signCard(strange, key)
    const header = { alg: 'EdDSA', kid: 'key-1', typ: 'JOSE' }
    const cards = [AgentCard.fromJSON(strange), structuredClone(strange) as unknown as AgentCard]
    for (const [index, card] of cards.entries()) {
      const theirs = await signText(canonicalizeAgentCard(card), key.private_key, header)
      expect(mine.signatures[index]).toEqual(theirs)
    }
  })
})

describe('a change of any member', () => {
  const leaves = leavesOf(fullCard)
  const changes: Record<string, (leaf: unknown) => unknown> = {
    changed: (leaf) => (typeof leaf === 'string' ? `${leaf}x` : typeof leaf === 'number' ? leaf + 1 : !leaf),
    'left out': () => undefined,
  }

  test.each(Object.entries(changes))('%s is refused here and by the SDK', async (_, change) => {
    const key = await makeKey('EdDSA')
    const { signatures } = await signCard(fullCard, key)
    const card = { ...fullCard, signatures: signatures.slice(1) }
    expect(leaves.length).toBeGreaterThanOrEqual(50)
    for (const path of leaves) {
      const forged = altered(card, path, change)
      expect((await check(forged, key.jwk)).status, path.join('/')).toBe('invalid')
      expect(await sdkAccepts(forged, key.jwk), path.join('/')).toBe(false)
    }
  })

  test('in the security schemes is told even where a signature for the client of the SDK stands', async () => {
    const key = await makeKey('EdDSA')
    const card = await signCard(fullCard, key)
    for (const path of leaves.filter(([root]) => root === 'securitySchemes')) {
      const forged = altered(card, path, (leaf) => `${leaf}x`)
      expect(await check(forged, key.jwk)).toMatchObject({
        covers_all: false,
        unsigned: ['/securitySchemes'],
      })
    }
  })

  test('a member put in is unsigned where A2A does not define it, and refused where it does', async () => {
    const key = await makeKey('EdDSA')
    const card = await signCard(
      altered(fullCard, ['iconUrl'], () => undefined),
      key,
    )
    expect(await check({ ...card, iconUrl: 'https://evil.example' }, key.jwk)).toMatchObject({
      status: 'invalid',
    })
    expect(await check({ ...card, agent_id: 'evil' }, key.jwk)).toMatchObject({
      status: 'valid',
      covers_all: false,
      unsigned: ['/agent_id'],
    })
  })
})

describe('other forms that signers use', () => {
  const old = {
    protocolVersion: '0.3.0',
    name: 'Old',
    description: '',
    url: 'https://example.com/a2a',
    capabilities: { streaming: false, stateTransitionHistory: true },
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    security: [{ bearer: [] }],
    skills: [{ id: 'a', name: 'A', description: 'a', tags: ['a'], own: 1 }],
    agent_id: 'extra',
  }
  const { agent_id: _, ...known } = altered(old, ['skills', 0, 'own'], () => undefined)
  const { description: __, security: ___, ...normal } = known

  test.each([
    ['the whole card, empty values included', old, []],
    ['what A2A 0.3 defines', known, ['/skills/0/own', '/agent_id']],
    ['what A2A 0.3 defines, without empty values', normal, ['/skills/0/own', '/agent_id', '/security']],
  ])('%s', async (_name, signed, unsigned) => {
    const key = await makeKey('ES256')
    const signature = await signText(canonicalize(signed)!, key.private_key, { alg: 'ES256', kid: key.kid })
    const result = await check({ ...old, signatures: [signature] }, key.jwk)
    expect(result).toMatchObject({ status: 'valid', covers_all: unsigned.length === 0 })
    expect(result.unsigned?.toSorted()).toEqual(unsigned.toSorted())
  })
})

describe('keys', () => {
  test('are those of the verified domain, fetched once', async () => {
    await using own = await startSite()
    const key = await makeKey('EdDSA')
    own.put(jwksFile, JSON.stringify({ keys: [key.jwk] }))
    const card = await signCard(strange, key)
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
    let connections = 0
    await using evil = await serve((_, response) => response.end(JSON.stringify({ keys: [key.jwk] })))
    const counted: typeof site.fetch = (request) => {
      if (new URL(request.url).origin === evil.origin) connections++
      return site.fetch(request)
    }
    const keysOf = createKeysOf({ fetch: counted, originOf: site.originOf })
    const at = evil.origin.replace('http://', '')
    const places = [
      `${evil.origin}/keys`,
      `${site.web.origin}@${at}/keys`,
      `//${at}/keys`,
      site.web.origin.replace('http', 'https'),
      'file:///etc/passwd',
      'keys',
      '',
    ]
    for (const jku of places) {
      const card = await signCard(fullCard, { ...key, jku })
      const result = await verifyCard(card, { domain, keysOf }, signal)
      expect(result, jku).toMatchObject({ status: 'untrusted_key' })
      expect(result.detail).toContain('not fetched')
    }
    expect(connections + evil.hits()).toBe(0)
  })

  test('behind a redirect to another origin are not trusted', async () => {
    const key = await makeKey('EdDSA')
    await using evil = await serve((_, response) => response.end(JSON.stringify({ keys: [key.jwk] })))
    await using own = await startSite()
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
    const { generateKeyPairSync, sign } = await import('node:crypto')
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
    const header = encodeHeader({ alg: 'RS256', kid: 'small', typ: 'JOSE' })
    const payload = Buffer.from(canonicalize(fullCard)!).toString('base64url')
    const signature = sign('sha256', Buffer.from(`${header}.${payload}`), privateKey).toString('base64url')
    const card = { ...fullCard, signatures: [{ protected: header, signature }] }
    const jwk = { ...(publicKey.export({ format: 'jwk' }) as JWK), kid: 'small' }
    expect((await check(card, jwk)).status).toBe('invalid')
  })
})

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
    const stranger = await makeKey('EdDSA', 'stranger')
    const [good] = (await signCard(openCard, key)).signatures
    const [foreign] = (await signCard(openCard, stranger)).signatures
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
    ['with 2 MB of text', 'x'.repeat(2_000_000)],
    ['with a lone surrogate', 'a\ud800b'],
    ['with a lone surrogate for a name', { 'a\udc00': 1 }],
    ['with a number beyond a double', JSON.parse('1e999')],
    ['with what no JSON has', [Number.NaN, undefined, 1n, () => 1]],
  ])('%s is invalid', async (_, value) => {
    const key = await makeKey('EdDSA')
    const result = await check({ ...fullCard, value, signatures }, key.jwk)
    expect(result.status).toBe('invalid')
    expect(result.detail).toContain('not checked')
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

test('a caller who leaves ends it', async () => {
  await using own = await startSite()
  own.put(jwksFile, () => {})
  const controller = new AbortController()
  const card = await signCard(fullCard, await makeKey('EdDSA'))
  const checked = rejection(verifyCard(card, { domain, keysOf: createKeysOf(own) }, controller.signal))
  controller.abort(new Error('gone'))
  expect(await checked).toMatchObject({ message: 'gone' })
})
