import { expect, test } from 'vitest'
import { createUnmetQueries } from '../../src/registry/queries/unmet-queries.ts'
import { startGateway } from '../support/gateway.ts'

const callers = ['a', 'b', 'c', 'd', 'e']

test('a query is listed once five callers have asked it, however often one does', () => {
  const unmet = createUnmetQueries()
  for (let count = 0; count < 20; count++) unmet.note('Knit a sweater', 'a', 'little')
  for (const caller of callers.slice(1, 4)) unmet.note('knit  a SWEATER', caller, 'little')
  expect(unmet.list()).toEqual([])
  unmet.note('knit a sweater', 'e', 'nothing')
  expect(unmet.list()).toEqual([{ query: 'knit a sweater', times: 24, found: 'nothing' }])
})

test.each([
  ['call 555 0199 for me', 'call for me'],
  ['write to ada@example.com please', 'write to please'],
  ['read https://example.com/private now', 'read now'],
  ['who is @ada or #ada', 'who is or'],
  ['open /home/ada and c:\\users', 'open and'],
  ['host intra.example here', 'host here'],
  [`key ${'s'.repeat(40)} leaked`, 'key leaked'],
  ['sk-4711', ''],
])('numbers, addresses and keys are left out: %s', (query, shown) => {
  const unmet = createUnmetQueries()
  for (const caller of callers) unmet.note(query, caller, 'nothing')
  expect(unmet.list().map(({ query: text }) => text)).toEqual(shown === '' ? [] : [shown])
})

test('an admin sees them where the setting is on, and nobody else', async () => {
  await using home = await startGateway({ DRAGOMAN_UNMET_QUERIES: 'on', DRAGOMAN_RATE_LIMIT: 'off' })
  for (const caller of callers) {
    const token = await home.token(caller)
    await home.request('GET', '/public/agents?q=qqzzvv+xxyyww', { token })
  }
  const admin = await home.token('root', { scopes: ['admin'] })
  const read = async (token?: string) =>
    (await home.request('GET', '/public/status', token === undefined ? {} : { token })).json.detail
  expect((await read(admin)).unmet_queries).toEqual([{ query: 'qqzzvv xxyyww', times: 5, found: 'nothing' }])
  expect(await read(await home.token('ada'))).toBeUndefined()
  await using silent = await startGateway()
  const root = await silent.token('root', { scopes: ['admin'] })
  const { json } = await silent.request('GET', '/public/status', { token: root })
  expect(json.detail.unmet_queries).toBeUndefined()
})
