import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { mintToken } from '../../src/auth/issuer.ts'
import { generateJwk } from '../../src/auth/key.ts'
import { openKeyRing } from '../../src/auth/key-ring.ts'
import { command, temporaryFolder } from '../support/command.ts'
import { signerOf, startGateway } from '../support/gateway.ts'
import { run } from '../support/processes.ts'

const minute = 60_000
const year = 365 * 86_400_000

let folder: Awaited<ReturnType<typeof temporaryFolder>>
let path: string
let now: number
const clock = () => now
beforeEach(async () => {
  folder = await temporaryFolder()
  path = join(folder.path, 'keys', 'signing.json')
  now = Date.UTC(2026, 10, 1)
})
afterEach(() => folder[Symbol.asyncDispose]())

const grant = { subject: 'ada', scopes: ['agents:read'], namespaces: [], ttl_s: 600 } as const
const open = () => openKeyRing(path, clock)
const kids = (keys: readonly { kid?: string | undefined }[]) => keys.map(({ kid }) => kid)

describe('a key ring', () => {
  test('adopts the single key of older versions as its first key, and never changes its name', async () => {
    const jwk = await generateJwk()
    const first = await open()
    await writeFile(path, JSON.stringify(jwk))
    const ring = await open()
    expect(ring.name).not.toBe(first.name)
    const { kid } = await ring.signing()
    expect(ring.name).toBe(`urn:dragoman:${kid}`)
    for (let turn = 0; turn < 3; turn++) {
      await ring.rotate()
      now += 6 * minute
    }
    expect((await ring.signing()).kid).not.toBe(kid)
    expect(ring.name).toBe(`urn:dragoman:${kid}`)
    expect((await open()).name).toBe(`urn:dragoman:${kid}`)
  })

  test('publishes a new key at once, and signs with it after five minutes', async () => {
    const ring = await open()
    const old = (await ring.signing()).kid
    const { kid, state } = await ring.rotate()
    expect(state).toBe('next')
    expect(kids(await ring.published())).toEqual([old, kid])
    expect((await ring.verifying(kid))?.kid).toBe(kid)
    now += 5 * minute - 1
    expect((await ring.signing()).kid).toBe(old)
    now += 1
    expect((await ring.signing()).kid).toBe(kid)
    expect((await ring.list()).map((key) => key.state)).toEqual(['retired', 'signing'])
  })

  test('lets an old key verify for as long as a token may live, and drops it at the next rotation', async () => {
    const ring = await open()
    const old = (await ring.signing()).kid
    await ring.rotate()
    now += 5 * minute + year - 1
    expect((await ring.verifying(old))?.kid).toBe(old)
    now += 1
    expect(await ring.verifying(old)).toBeUndefined()
    expect(kids(await ring.published())).not.toContain(old)
    expect(await readFile(path, 'utf8')).toContain(old)
    await ring.rotate()
    expect(
      JSON.parse(await readFile(path, 'utf8')).keys.map((key: { kid: string }) => key.kid),
    ).not.toContain(old)
  })

  test('never returns a private part', async () => {
    const ring = await open()
    await ring.rotate()
    for (const key of await ring.published()) {
      expect(Object.keys(key).toSorted()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x'])
    }
  })

  test('sees what another process did: for an unknown kid, and before it signs, every two seconds', async () => {
    const [mine, theirs] = [await open(), await open()]
    now += 2000
    const { kid } = await theirs.rotate()
    expect((await mine.verifying(kid))?.kid).toBe(kid)
    now += 5 * minute
    expect((await mine.signing()).kid).toBe(kid)
    const next = await theirs.rotate()
    expect(await mine.verifying(next.kid)).toBeUndefined()
    now += 2000
    expect((await mine.verifying(next.kid))?.kid).toBe(next.kid)
  })

  test('that loses its signing key signs with a fresh one at once', async () => {
    const ring = await open()
    const { kid } = await ring.signing()
    expect(await ring.remove('nothing')).toBe(false)
    expect(await ring.remove(kid)).toBe(true)
    const fresh = await ring.signing()
    expect(fresh.kid).not.toBe(kid)
    expect(await ring.verifying(kid)).toBeUndefined()
    expect(kids(await ring.published())).toEqual([fresh.kid])
  })

  test.each([
    ['back', -3 * year],
    ['ahead', 3 * year],
  ])('signs with what verifies although a clock that was set %s rotated it', async (_, jump) => {
    const ring = await open()
    await ring.rotate()
    now += 6 * minute
    for (const step of [jump, -jump]) {
      now += step
      await ring.rotate()
      now += 6 * minute
    }
    for (const step of [0, year, year, year, year]) {
      now += step
      const { kid } = await ring.signing()
      expect((await ring.verifying(kid))?.kid).toBe(kid)
    }
  })

  test('that loses the next of two keys goes on with the one it has until the other begins', async () => {
    const ring = await open()
    await ring.rotate()
    now += 6 * minute
    const { kid } = await ring.signing()
    const next = await ring.rotate()
    now += minute
    const last = await ring.rotate()
    await ring.remove(next.kid)
    now += 4.5 * minute
    expect((await ring.signing()).kid).toBe(kid)
    now += minute
    expect((await ring.signing()).kid).toBe(last.kid)
  })

  test('that loses its next key goes on with the one it has', async () => {
    const ring = await open()
    const { kid } = await ring.signing()
    const next = await ring.rotate()
    await ring.remove(next.kid)
    now += 2 * year
    expect((await ring.signing()).kid).toBe(kid)
    expect((await ring.verifying(kid))?.kid).toBe(kid)
  })

  test('loses no rotation where several processes rotate at once, and stays for its owner alone', async () => {
    const { kid } = await (await open()).signing()
    const environment = { DRAGOMAN_DATA: folder.path }
    const peers = Array.from({ length: 3 }, () =>
      run(process.execPath, [command, 'keys', 'rotate', '--json'], environment),
    )
    const mine = [await open(), await open()].map((ring) => ring.rotate())
    const ends = await Promise.all(peers.map((peer) => peer.ended))
    expect(ends.map((end) => [end.code, end.stderr])).toEqual(Array(3).fill([0, '']))
    const made = [...ends.map((end) => JSON.parse(end.stdout).kid), ...kids(await Promise.all(mine))]
    expect(new Set(kids(await (await open()).published()))).toEqual(new Set([kid, ...made]))
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect((await readdir(join(folder.path, 'keys'))).toSorted()).toEqual([
      'signing.json',
      'signing.json.lock',
    ])
  })
})

test('a running gateway takes tokens of old and new keys, and publishes both', async () => {
  const start = Date.now()
  let time = start
  await using home = await startGateway({}, { clock: () => time })
  const before = await home.token('ada')
  const elsewhere = await openKeyRing(join(home.data, 'keys', 'signing.json'), () => time)
  await elsewhere.rotate()
  time += 6 * minute
  const after = await mintToken(
    await elsewhere.signing(),
    home.gateway.identity.issuer,
    { ...grant, audience: [elsewhere.name] },
    () => time,
  )
  for (const token of [before, after]) {
    const { status } = await home.request('GET', '/api/agents', { token })
    expect(status).toBe(200)
  }
  expect((await signerOf(home)).key.kid).toBe((await elsewhere.signing()).kid)
  const answer = await home.request('GET', '/.well-known/jwks.json')
  expect(answer.headers.get('cache-control')).toBe('public, max-age=300')
  expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  expect(answer.json.keys).toHaveLength(2)
  const keys = createLocalJWKSet(answer.json)
  for (const token of [before, after]) {
    await expect(jwtVerify(token, keys, { currentDate: new Date(time) })).resolves.toBeDefined()
  }
})
