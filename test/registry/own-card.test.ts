import type { JWK } from 'jose'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { message } from '../support/a2a.ts'
import { startGateway } from '../support/gateway.ts'
import { sdkAccepts, sdkClientAccepts } from './verification/sdk.ts'

const own = '/.well-known/agent-card.json'
const wiki = '/agents/svc.utility.wiki/.well-known/agent-card.json'
const version = { headers: { 'A2A-Version': '1.0' } }

// The SDK logs each signature that it refuses.
vi.spyOn(console, 'debug').mockImplementation(() => {})
const home = await startGateway()
afterAll(async () => {
  vi.restoreAllMocks()
  await home[Symbol.asyncDispose]()
})

/** The key that a card's signature names, from the address in the card. */
async function keyOf(card: { signatures: { protected: string }[] }): Promise<JWK> {
  const { kid, jku } = JSON.parse(Buffer.from(card.signatures[0]?.protected ?? '', 'base64url').toString())
  const { keys } = (await (await fetch(jku)).json()) as { keys: (JWK & { kid: string })[] }
  return keys.find((key) => key.kid === kid) as JWK
}

/** Each leaf of a JSON value with the path to it. */
function* leaves(value: unknown, path: (string | number)[] = []): Generator<(string | number)[]> {
  if (typeof value !== 'object' || value === null) return yield path
  for (const [key, member] of Object.entries(value)) yield* leaves(member, [...path, key])
}

function changed(card: object, path: readonly (string | number)[]): object {
  const copy = structuredClone(card)
  const parent = path.slice(0, -1).reduce((at, key) => Reflect.get(at, key) as object, copy)
  const last = path.at(-1) as string
  const was: unknown = Reflect.get(parent, last)
  Reflect.set(parent, last, typeof was === 'string' ? `${was}!` : typeof was === 'number' ? was + 1 : !was)
  return copy
}

describe("the gateway's own card, as A2A has it", () => {
  test.each([
    ['the registry', own],
    ['a utility agent', wiki],
  ])(
    'of %s is accepted by the verifier of the A2A SDK, and each change of what is signed refused',
    async (_, path) => {
      const { json: superset } = await home.request('GET', `/a2a/v1/svc.registry${own}`)
      expect(await sdkAccepts(superset, await keyOf(superset))).toBe(true)
      const { json: card } = await home.request('GET', path, version)
      const key = await keyOf(card)
      expect(await sdkAccepts(card, key)).toBe(true)
      expect(await sdkClientAccepts(card, key)).toBe(true)
      const { signatures, ...content } = card
      const paths = [...leaves(content)]
      expect(paths.length).toBeGreaterThan(20)
      for (const leaf of paths) {
        expect(await sdkAccepts({ ...changed(content, leaf), signatures }, key), leaf.join('/')).toBe(false)
      }
    },
  )

  test('is requested by header, by query or by media type; other requests get the registry’s own form', async () => {
    const shapes = await Promise.all([
      home.request('GET', own, version),
      home.request('GET', `${own}?A2A-Version=1.0`),
      home.request('GET', own, { headers: { Accept: 'application/a2a-agent-card+json' } }),
      home.request('GET', own, { headers: { Accept: 'application/json, application/a2a+json' } }),
    ])
    for (const { json, headers } of shapes) {
      expect(json.supportedInterfaces[0].url).toBe(`${home.url}/a2a/v1`)
      expect(headers.get('vary')).toContain('A2A-Version')
      expect(headers.get('etag')).toBe(shapes[0]?.headers.get('etag'))
    }
    const superset = await home.request('GET', `/a2a/v1${own}`)
    expect(superset.headers.get('etag')).not.toBe(shapes[0]?.headers.get('etag'))
    expect(superset.json).toMatchObject({
      supportedInterfaces: shapes[0].json.supportedInterfaces,
      url: `${home.url}/a2a/v1`,
      preferredTransport: 'JSONRPC',
      protocolVersion: '0.3.0',
      supportsAuthenticatedExtendedCard: true,
      securitySchemes: { bearer: { type: 'http', httpAuthSecurityScheme: { scheme: 'Bearer' } } },
    })
    const plain = await home.request('GET', own)
    expect(plain.json.agent_id).toBe('custom.svc.registry')
    expect(plain.json.capabilities.map((member: { name: string }) => member.name)).toEqual([
      'search_agents',
      'resolve_package',
    ])
    expect(plain.headers.get('etag')).not.toBe(shapes[0]?.headers.get('etag'))
    const again = { headers: { ...version.headers, 'If-None-Match': plain.headers.get('etag') as string } }
    expect((await home.request('GET', own, again)).status).toBe(200)
  })

  test('names interfaces that answer as it says', async () => {
    const { json: card } = await home.request('GET', wiki, version)
    const { agent_id } = card.capabilities.extensions[0].params
    const call = { action: card.skills[0].id, params: {} }
    const [rpc, rest, envelope] = card.supportedInterfaces.map((member: { url: string }) => ({
      ...member,
      path: new URL(member.url).pathname,
    }))
    const answer = await home.request('POST', envelope.path, { body: { to: agent_id, ...call } })
    expect(answer.json.code).toBe('unauthenticated')

    expect(rpc).toMatchObject({ protocolBinding: 'JSONRPC', protocolVersion: '1.0' })
    const params = { tenant: rpc.tenant, ...message([{ data: call }]) }
    const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params }
    const byRpc = await home.request('POST', rpc.path, { body, ...version })
    expect(byRpc.json.error.data[0].metadata.code).toBe('unauthenticated')

    expect(rest).toMatchObject({ protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' })
    const request = { body: message([{ data: call }]), ...version }
    const byRest = await home.request('POST', `${rest.path}/${rest.tenant}/message:send`, request)
    expect(byRest.json.error.details[0].metadata.code).toBe('unauthenticated')
  })

  test('states its maximum age and its last modification', async () => {
    const { headers } = await home.request('GET', own, version)
    expect(headers.get('cache-control')).toBe('public, max-age=0, must-revalidate')
    expect(Date.parse(headers.get('last-modified') ?? '')).toBeLessThanOrEqual(Date.now())
    const again = await home.request('GET', own, version)
    expect(again.headers.get('last-modified')).toBe(headers.get('last-modified'))
  })

  test('is signed by the new key once the keys have been rotated', async () => {
    let now = Date.parse('2026-11-01T00:00:00Z')
    await using other = await startGateway({}, { clock: () => now })
    const before = (await other.request('GET', own, version)).json
    await other.gateway.identity.ring.rotate()
    now += 10 * 60_000
    const after = (await other.request('GET', own, version)).json
    expect(after.signatures[0].protected).not.toBe(before.signatures[0].protected)
    expect(await sdkAccepts(after, await keyOf(after))).toBe(true)
    expect(await sdkAccepts(before, await keyOf(before))).toBe(true)
  })
})
