import { afterAll, describe, expect, test } from 'vitest'
import { createTxtResolver } from '../../src/net/fetch/resolver.ts'
import { type DnsServer, serveDns } from '../support/dns.ts'
import { rejection } from './support.ts'

const { signal } = new AbortController()

let server: DnsServer

server = await serveDns()
const other = await serveDns()

afterAll(async () => {
  for (const dns of [server, other]) await dns?.[Symbol.asyncDispose]()
})

const patient = (...servers: readonly DnsServer[]) =>
  createTxtResolver({ servers: servers.map(({ address }) => address), timeout_ms: 10_000 })
const hasty = (...servers: readonly DnsServer[]) =>
  createTxtResolver({ servers: servers.map(({ address }) => address), timeout_ms: 200 })

describe('TXT records', () => {
  test('come with the strings of each joined', async () => {
    server.set('chunks.test', { txt: [['dragoman-', 'verify=', 'abc'], 'two'] })
    expect(await patient(server)('chunks.test', signal)).toEqual(['dragoman-verify=abc', 'two'])
  })

  test('are empty if the name or the type does not exist', async () => {
    server.set('no-data.test', { rcode: 'NOERROR' })
    expect(await patient(server)('no-such-name.test', signal)).toEqual([])
    expect(await patient(server)('no-data.test', signal)).toEqual([])
  })

  test('are found behind an alias', async () => {
    server.txt('target.test', 'found')
    server.set('alias.test', { cname: 'target.test' })
    expect(await patient(server)('alias.test', signal)).toEqual(['found'])
  })

  test('are queried again each time', async () => {
    server.set('changing.test', { txt: ['before'] }, { txt: ['after'] })
    expect(await patient(server)('changing.test', signal)).toEqual(['before'])
    expect(await patient(server)('changing.test', signal)).toEqual(['after'])
  })

  test('longer than 2 KB are ignored, and at most 100 are accepted', async () => {
    server.txt('long.test', 'x'.repeat(2048), 'y'.repeat(2049))
    server.txt('hundred.test', ...Array.from({ length: 100 }, (_, index) => `record ${index}`))
    server.txt('more.test', ...Array.from({ length: 101 }, (_, index) => `record ${index}`))
    expect(await patient(server)('long.test', signal)).toEqual(['x'.repeat(2048)])
    expect(await patient(server)('hundred.test', signal)).toHaveLength(100)
    expect(await rejection(patient(server)('more.test', signal))).toMatchObject({ code: 'too_large' })
  })
})

describe('a name server that fails', () => {
  test.each([
    ['SERVFAIL', { rcode: 'SERVFAIL' }],
    ['REFUSED', { rcode: 'REFUSED' }],
    ['an alias of itself', { cname: 'fails.test' }],
    ['a message that is none', 'garbage'],
  ] as const)('with %s is upstream_failed', async (name, reply) => {
    await using server = await serveDns()
    server.set('fails.test', reply)
    expect(await rejection(patient(server)('fails.test', signal)), name).toMatchObject({
      code: 'upstream_failed',
    })
  })

  test('with a loop of aliases is upstream_failed', async () => {
    server.set('round.test', { cname: 'and-round.test' })
    server.set('and-round.test', { cname: 'round.test' })
    expect(await rejection(patient(server)('round.test', signal))).toMatchObject({
      code: 'upstream_failed',
      message: 'The aliases (CNAME) of round.test form a loop.',
    })
  })

  test.each([
    ['says nothing', 'silence'],
    ['answers with a wrong id', { wrong_id: ['lie'] }],
    ['answers another question', { question: 'other.test', txt: ['lie'] }],
  ] as const)('because it %s is upstream_timeout', async (name, reply) => {
    await using server = await serveDns()
    server.set('late.test', reply)
    expect(await rejection(hasty(server)('late.test', signal)), name).toMatchObject({
      code: 'upstream_timeout',
    })
  })

  test('is left at once when the signal aborts', async () => {
    server.set('silent.test', 'silence')
    const resolve = createTxtResolver({ servers: [server.address], timeout_ms: 60_000 })
    const controller = new AbortController()
    const lookup = rejection(resolve('silent.test', controller.signal))
    controller.abort(new Error('enough'))
    expect(await lookup).toMatchObject({ message: 'enough' })
    const again = await rejection(resolve('silent.test', controller.signal))
    expect(again).toMatchObject({ message: 'enough' })
  }, 5_000)
})

describe('several name servers', () => {
  test('must all give a record for it to count', async () => {
    server.txt('shared.test', 'both', 'only one')
    other.txt('shared.test', 'only the other', 'both')
    expect(await patient(server, other)('shared.test', signal)).toEqual(['both'])
  })

  test('of which one lies do not accept the false record', async () => {
    server.txt('victim.test', 'lie')
    expect(await patient(server, other)('victim.test', signal)).toEqual([])
    server.set('victim.test', { txt_of: 'elsewhere.test', txt: ['lie'] })
    expect(await patient(server, other)('victim.test', signal)).toEqual([])
    expect(await patient(other, server)('victim.test', signal)).toEqual([])
  })

  test('must all answer', async () => {
    server.txt('half.test', 'record')
    other.set('half.test', { rcode: 'SERVFAIL' })
    expect(await rejection(patient(server, other)('half.test', signal))).toMatchObject({
      code: 'upstream_failed',
    })
    other.set('half.test', 'silence')
    expect(await rejection(hasty(server, other)('half.test', signal))).toMatchObject({
      code: 'upstream_timeout',
    })
  })
})

test.each(['192.0.2.1', '192.0.2.1:5353', '2001:db8::1', '[2001:db8::1]:53'])(
  '%s is a name server',
  (server) => {
    expect(() => createTxtResolver({ servers: [server], timeout_ms: 1 })).not.toThrow()
  },
)

test.each(['dns.example', 'localhost:53', '192.0.2.1:', '[192.0.2.1]:53', '2001:db8::1::53', ''])(
  '%j is not a name server',
  (server) => {
    expect(() => createTxtResolver({ servers: [server], timeout_ms: 1 })).toThrow(
      expect.objectContaining({
        message: expect.stringContaining('is not an IP address'),
        details: { hint: expect.stringContaining('DRAGOMAN_DNS_SERVERS') },
      }),
    )
  },
)
