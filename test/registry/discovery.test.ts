import { afterAll, describe, expect, test } from 'vitest'
import { discoveryOf } from '../../schemas/discovery.ts'
import { startGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'

const home = await startGateway()
const endpoint = (protocol: 'a2a' | 'mcp', name: string) => [
  { protocol, url: `https://${name}.example.com/` } as const,
]
await list(home, {
  package_name: 'com.example.alpha',
  endpoints: endpoint('mcp', 'alpha'),
  capabilities: [{ name: 'read_tide', description: 'Reads the tide of a harbour. It is slow.' }],
})
await list(home, { package_name: 'com.example.beta', endpoints: endpoint('a2a', 'beta') })
afterAll(() => home[Symbol.asyncDispose]())

const names = (json: { agents: { package_name: string }[] }) => json.agents.map((agent) => agent.package_name)

describe('filters for catalogs', () => {
  test('select by protocol and count protocols', async () => {
    const mcp = await home.request('GET', '/public/agents?protocol=mcp&facets=true')
    expect(names(mcp.json)).toEqual(['com.example.alpha'])
    expect(mcp.json.agents[0]).toMatchObject({ protocol: 'mcp', verified_domain: null })
    const two = await home.request('GET', '/public/agents?protocol=mcp&protocol=a2a&facets=true')
    expect(two.json.facets.protocols).toEqual({ a2a: two.json.total - 1, mcp: 1 })
    expect(names(two.json)).toContain('svc.registry')
  })

  test('select by one of several tags, where `tags` asks for all', async () => {
    const of = async (name: string) => {
      const query = `${name}=search&${name}=test`
      return (await home.request('GET', `/public/agents?${query}`)).json.total
    }
    expect(await of('tags')).toBe(0)
    expect(await of('labels')).toBe(4)
  })

  test('select agents without a proved domain', async () => {
    const { json } = await home.request('GET', '/public/agents?publisher=none&facets=true')
    expect(json.facets.publishers).toEqual({ none: json.total })
    const other = await home.request('GET', '/public/agents?publisher=example.com')
    expect(other.json.total).toBe(0)
  })
})

describe('discovery', () => {
  test('names capabilities and makes queries of them', async () => {
    const { json } = await home.request('GET', '/public/agents?protocol=mcp&discovery=true')
    expect(json.agents[0].discovery).toEqual({
      capabilities: ['read_tide'],
      queries: [
        'Reads the tide of a harbour.',
        'The agent com.example.alpha.',
        'What can com.example.alpha do?',
        'com.example.alpha',
      ],
    })
  })

  test.each([
    [
      { skills: [{ examples: ['Translate this.', 'To French, please.', 7] }] },
      ['Translate this.', 'To French, please.'],
    ],
    [{ skills: [{ examples: ['Only this.'] }] }, ['Only this.', 'Same', 'What can Same do?']],
    [{ skills: 'none' }, ['Same', 'What can Same do?']],
    [null, ['Same', 'What can Same do?']],
  ])('takes the examples of the card %j', (card, queries) => {
    expect(discoveryOf({ name: 'Same', description: 'Same', capabilities: [], card }).queries).toEqual(
      queries,
    )
  })

  test('is of bounded length, whatever a publisher states', () => {
    const capabilities = Array.from({ length: 200 }, (_, index) => ({
      name: `tool_${index}`,
      description: 'word '.repeat(800),
    }))
    const { capabilities: shown, queries } = discoveryOf({
      name: 'N',
      description: 'D',
      capabilities,
      card: null,
    })
    expect([shown.length, queries.length]).toEqual([50, 4])
    expect(Math.max(...queries.map((query) => query.length))).toBeLessThanOrEqual(121)
  })
})
