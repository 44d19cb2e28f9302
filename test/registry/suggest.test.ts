import { afterAll, expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'
import { publication } from '../support/registry.ts'

const home = await startGateway()
await list(home, {
  package_name: 'com.example.tides',
  name: 'Tide tables',
  description: 'Tides.',
  capabilities: [{ name: 'tides', description: 'Gives tides.' }],
})
for (const [package_name, name] of [
  ['com.example.lighthouse', 'Lighthouse'],
  ['com.example.beacon', 'lighthouse'],
] as const)
  await list(home, {
    package_name,
    name,
    description: 'Light.',
    capabilities: [{ name: 'light', description: 'Gives light.' }],
  })
const token = await home.token('ada')
const body = publication('com.example.hidden', { name: 'Tide secrets' })
await home.request('POST', '/api/agents/publish', { token, body })
afterAll(() => home[Symbol.asyncDispose]())

const suggest = async (q: string, token?: string) => {
  const path = `/public/suggest?q=${encodeURIComponent(q)}`
  const { status, json } = await home.request('GET', path, token === undefined ? {} : { token })
  return [status, json.suggestions?.map(({ name }: { name: string }) => name)]
}

test.each([
  ['tid', ['Tide tables']],
  ['TÁB', ['Tide tables']],
  ['ables', ['Tide tables']],
  ['example.tides', ['Tide tables']],
  ['light', ['lighthouse']],
  ['light hou', ['lighthouse']],
  ['Light-house', ['lighthouse']],
  ['zzqq', []],
  ['zz qq', []],
  ['', []],
  [' ', []],
])('names that complete %j are suggested', async (typed, names) => {
  expect(await suggest(typed)).toEqual([200, names])
})

test('an agent in STAGE is suggested to nobody, not even its owner', async () => {
  expect(await suggest('tide secrets', await home.token('ada'))).toEqual([200, []])
})

test('a text that is too long is refused', async () => {
  expect(await suggest('a'.repeat(101))).toEqual([400, undefined])
})
