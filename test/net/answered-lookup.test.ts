import { expect, test } from 'vitest'
import { isRecord } from '../../schemas/json.ts'
import { createAnsweredLookup } from '../../src/net/fetch/answered-lookup.ts'
import type { Lookup } from '../../src/net/fetch/connector.ts'
import { serveDns } from '../support/dns.ts'

const address = { address: '192.0.2.1', family: 4 }

/** A lookup over a real name server; `lookups` are the names that reach the system. */
async function open() {
  const dns = await serveDns()
  const lookups: string[] = []
  const system: Lookup = (hostname, _, callback) => {
    lookups.push(hostname)
    callback(null, [address])
  }
  const lookup = createAnsweredLookup(system, {
    trusted: new Set(['internal.test']),
    servers: [dns.address],
    timeout_ms: 200,
  })
  const find = (name: string) =>
    new Promise((resolve) => {
      lookup(name, { all: true }, (error, addresses) => resolve(isRecord(error) ? error.code : addresses))
    })
  return { dns, lookups, find, [Symbol.asyncDispose]: () => dns[Symbol.asyncDispose]() }
}

test('a name whose servers are silent does not reach the system, and delays no other name', async () => {
  await using names = await open()
  names.dns.set('silent.test', 'silence')
  names.dns.set('known.test', { rcode: 'NOERROR' })
  const silent = Array.from({ length: 16 }, () => names.find('silent.test'))
  expect(await names.find('known.test')).toEqual([address])
  expect(await Promise.all(silent)).toEqual(Array(16).fill('ETIMEDOUT'))
  expect(names.lookups).toEqual(['known.test'])
})

test('a name that does not exist, and one whose server fails, are left to the system, which may know more', async () => {
  await using names = await open()
  names.dns.set('failing.test', { rcode: 'SERVFAIL' })
  expect(await names.find('nowhere.test')).toEqual([address])
  expect(await names.find('failing.test')).toEqual([address])
  expect(names.lookups).toEqual(['nowhere.test', 'failing.test'])
})

test('a name that the operator allows, and a literal address, are looked up at once', async () => {
  await using names = await open()
  names.dns.set('internal.test', 'silence')
  expect(await names.find('internal.test')).toEqual([address])
  expect(await names.find('192.0.2.1')).toEqual([address])
  expect(names.dns.questions).toEqual([])
})
