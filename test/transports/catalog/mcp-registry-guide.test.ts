import { expect, test } from 'vitest'
import { blocks, guideOf, shell } from '../../support/documents.ts'
import { startGateway } from '../../support/gateway.ts'

const guide = guideOf('catalogs.md')
const section =
  guide.split(/^(?=## )/m).find((text) => text.startsWith('## The API of the MCP registry')) ?? ''

test('docs/catalogs.md: a search in the API of the MCP registry is answered as it says', async () => {
  await using home = await startGateway()
  const here = (text: string) => text.replaceAll('http://127.0.0.1:8080', home.url)
  const [request, ...others] = blocks(section).filter(({ info }) => info === 'sh')
  const answer = blocks(section).find(({ info }) => info === 'json')
  expect(others).toEqual([])
  const text = await shell(here(request?.code ?? '').replaceAll('curl ', 'curl -sS '))
  expect(JSON.parse(text)).toMatchObject({
    ...JSON.parse(here(answer?.code ?? '')),
    metadata: { count: 1 },
  })
})

test('docs/catalogs.md names every path of the API', async () => {
  await using home = await startGateway()
  const paths = [...section.matchAll(/`GET (\/v0\.1\/[^`]*)`/g)].map(([, path = '']) => path)
  expect(paths).toHaveLength(5)
  for (const path of paths) {
    const real = path.replace('NAME', 'svc.utility%2Fwiki').replace('VERSION', 'latest')
    expect([path, (await home.request('GET', `${real}?search=encyclopedia`)).status]).toEqual([path, 200])
  }
})
