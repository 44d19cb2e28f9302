import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { list } from '../../support/listed.ts'
import { installed } from '../../support/others.ts'
import { run } from '../../support/processes.ts'

const program = installed('hf-discover-1.3.7/bin/hf-discover')

let home: TestGateway
beforeAll(async () => {
  home = await startGateway()
  await list(home, {
    package_name: 'com.example.tide',
    endpoints: [{ protocol: 'mcp', url: 'https://tide.example.com/mcp' }],
    capabilities: [{ name: 'get_tide', description: 'Tells the tide of a harbour.' }],
  })
})
afterAll(() => home[Symbol.asyncDispose]())

async function ask(...words: string[]) {
  await using client = run(program ?? '', words)
  const { code, stdout, stderr } = await client.ended
  expect(code, stderr).toBe(0)
  return JSON.parse(stdout)
}

describe('hf-discover 1.3.7, a client of ARD, where .ci/run has installed it,', () => {
  const words = ['search', 'the tide of a harbour', '--json', '--registry-url']

  test.skipIf(!program).each(['/ard', '/ard/search'])('finds an agent at %s', async (path) => {
    const { results } = await ask(...words, `${home.url}${path}`)
    expect(results[0]).toMatchObject({ displayName: 'com.example.tide', source: `${home.url}/ard` })
  })

  test.skipIf(!program)('finds MCP servers alone', async () => {
    const { results } = await ask(...words, `${home.url}/ard`, '--kind', 'mcp', '--federation', 'none')
    expect(results.map(({ displayName }: { displayName: string }) => displayName)).toEqual([
      'com.example.tide',
    ])
  })

  test.skipIf(!program)('reads the catalog of the site and searches the registry that it names', async () => {
    const { results } = await ask('navigate', home.url, 'the tide of a harbour', '--json')
    expect(JSON.stringify(results)).toContain('com.example.tide')
  })
})
