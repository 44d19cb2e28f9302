import { AgentCard, canonicalizeAgentCard } from '@a2a-js/sdk'
import canonicalize from 'canonicalize'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { signCard } from '../../../src/registry/verification/card-signature.ts'
import { rejection } from '../../net/support.ts'
import { altered, check, fullCard, leavesOf, makeKey, mixedCard, openCard, signText } from './cards.ts'
import { sdkAccepts, sdkClientAccepts, sdkSigned } from './sdk.ts'

beforeAll(() => {
  // The SDK prints every signature that it refuses.
  vi.spyOn(console, 'debug').mockImplementation(() => {})
})

afterAll(() => {
  vi.restoreAllMocks()
})

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
    const card = await signCard({ ...mixedCard, signatures: [{ protected: 'old', signature: 'old' }] }, key)
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
    expect(await rejection(signCard({ description: '\ud800' }, key))).toMatchObject({
      code: 'invalid_request',
    })
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
    const mine = await signCard(mixedCard, key)
    const header = { alg: 'EdDSA', kid: 'key-1', typ: 'JOSE' }
    const cards = [AgentCard.fromJSON(mixedCard), structuredClone(mixedCard) as unknown as AgentCard]
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

  test('in the security schemes is reported even if a signature for the client of the SDK is valid', async () => {
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

  test('an added member is unsigned if A2A does not define it, and refused if it does', async () => {
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

test('a signature that covers no member is not accepted', async () => {
  const key = await makeKey('EdDSA')
  const nothing = await signText('{}', key.private_key, { alg: 'EdDSA', kid: key.kid, typ: 'JOSE' })
  for (const card of [{}, { own: 1 }, { name: '' }]) {
    expect((await check({ ...card, signatures: [nothing] }, key.jwk)).status).toBe('invalid')
  }
  expect((await signCard({ own: 1 }, key)).signatures).toHaveLength(1)
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
  const { agent_id: _, ...without } = altered(old, ['skills', 0, 'own'], () => undefined)
  const { description: __, security: ___, ...normal } = without

  test.each([
    ['the whole card, empty values included', old, []],
    ['what A2A 0.3 defines', without, ['/skills/0/own', '/agent_id']],
    ['what A2A 0.3 defines, without empty values', normal, ['/skills/0/own', '/agent_id', '/security']],
  ])('%s', async (_name, signed, unsigned) => {
    const key = await makeKey('ES256')
    const signature = await signText(canonicalize(signed)!, key.private_key, { alg: 'ES256', kid: key.kid })
    const result = await check({ ...old, signatures: [signature] }, key.jwk)
    expect(result).toMatchObject({ status: 'valid', covers_all: unsigned.length === 0 })
    expect(result.unsigned?.toSorted()).toEqual(unsigned.toSorted())
  })
})
