import { afterAll, expect, test } from 'vitest'
import { serve } from '../../net/support.ts'
import { blocks, guideOf, shell } from '../../support/documents.ts'
import { startGateway } from '../../support/gateway.ts'

const guide = guideOf('catalogs.md')
const sections = guide.split(/^(?=## )/m).filter((text) => /^## (?:ARD|Federation)/.test(text))
const examples = blocks(sections.join('\n'))

const other = await serve((_request, response) => {
  const [shown] = examples.flatMap(({ code }) => (code.includes('others') ? [JSON.parse(code).others] : []))
  const results = shown?.map(({ name, ...result }: { name: string }) => ({ ...result, displayName: name }))
  response.end(JSON.stringify({ results }))
})
const home = await startGateway({ DRAGOMAN_FEDERATION: `${other.origin}/ard` })
afterAll(() => other[Symbol.asyncDispose]())
afterAll(() => home[Symbol.asyncDispose]())

/** The example as it is for the port of this test. */
const here = (text: string) =>
  text
    .replaceAll('http://127.0.0.1:8080', home.url)
    .replaceAll('127-0-0-1-8080', `127-0-0-1-${new URL(home.url).port}`)

test('docs/catalogs.md: the requests of ARD are answered as it says', async () => {
  const requests = examples.filter(({ info }) => info === 'sh')
  const answers = examples.filter(({ info }) => info === 'json')
  expect([sections.length, requests.length, answers.length]).toEqual([2, 4, 4])
  for (const [index, { code }] of requests.entries()) {
    const text = await shell(here(code).replaceAll('curl ', 'curl -sS '))
    const expected = here(answers[index]?.code ?? '')
      .replaceAll('"source": "https://registry.example/ard"', `"source": "${other.origin}/ard"`)
      .replaceAll('"url": "https://registry.example/ard"', `"url": "${other.origin}/ard"`)
    expect(JSON.parse(text), code).toMatchObject(JSON.parse(expected))
  }
})
