import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { localPrincipal } from '../../src/auth/authenticator.ts'
import { words } from '../../src/transports/page/site/words.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { openTransports, type TestTransport } from '../support/transports.ts'

const data = resolve(import.meta.dirname, '../../../shared/data')

const intents: [query: string, fits: RegExp][] = [
  ['send an email', /mail/i],
  ['convert a web page to markdown', /markdown|html|web|fetch|page/i],
  ['12306 火车票', /12306/],
  ['query a postgres database', /postgres|sql/i],
  ['what will it be like outside tomorrow', /weather/i],
  ['will I need an umbrella', /weather/i],
  ['who owns this domain', /whois/i],
  ['what is on my schedule today', /calendar/i],
  ['translate this into French', /translat/i],
  ['搜索小红书笔记', /小红书|xiaohongshu|xhs/i],
]

interface Agent {
  readonly package_name: string
  readonly name: string
  readonly description: string
}

describe.skipIf(!existsSync(data))('over the lists that people published', () => {
  let home: TestGateway
  let transports: TestTransport[]
  beforeAll(async () => {
    home = await startGateway()
    const { signal } = new AbortController()
    for (const file of ['mcp-servers.jsonl', 'a2a-cards.jsonl']) {
      const lines = readFileSync(`${data}/${file}`, 'utf8').trimEnd().split('\n')
      for (let start = 0; start < lines.length; start += 400) {
        const params = { lines: lines.slice(start, start + 400), first_line: start + 1 }
        const envelope = { to: 'svc.registry', action: 'import_entries', params }
        await home.gateway.dispatch(envelope, { principal: localPrincipal, client: 'local', signal })
      }
    }
    const revision = await home.gateway.store.read.revision()
    // Until then what is found by its meaning differs from one request to the next.
    const isEmbedded = () => home.gateway.vectors.progress().applied_revision === revision
    await vi.waitUntil(isEmbedded, { timeout: 100_000, interval: 50 })
    transports = openTransports(home)
  }, 120_000)
  afterAll(async () => {
    for (const transport of transports) await transport[Symbol.asyncDispose]()
    await home[Symbol.asyncDispose]()
  })

  test.each(intents)(
    '"%s" finds a fitting agent among the first three, the same through every transport',
    async (query, fits) => {
      const { json } = await home.request('POST', '/api/agents/search', { body: { query, limit: 3 } })
      const agents: Agent[] = json.agents
      expect(agents.length).toBeGreaterThan(0)
      expect(
        agents.filter((agent) => fits.test(`${agent.name} ${agent.description}`)).length,
      ).toBeGreaterThan(0)

      const expected = agents.map((agent) => agent.package_name)
      const listed = await home.request('GET', `/public/agents?limit=3&q=${encodeURIComponent(query)}`)
      expect(listed.json.agents.map((agent: Agent) => agent.package_name)).toEqual(expected)
      const envelope = { to: 'custom.svc.registry', action: 'search', params: { query, limit: 3 } }
      const names = await Promise.all(
        transports.map(async (transport) => {
          const outcome = (await transport.call(envelope, undefined)) as { output?: { agents: Agent[] } }
          return [transport.name, outcome.output?.agents.map((agent) => agent.package_name)]
        }),
      )
      expect(names).toEqual(transports.map((transport) => [transport.name, expected]))
    },
  )

  test.each(words.examples)('the example "%s" of the front page finds agents that fit', async (query) => {
    const { json } = await home.request('GET', `/public/agents?limit=3&q=${encodeURIComponent(query)}`)
    expect(json.agents).toHaveLength(3)
    expect(json.notice).toBeUndefined()
  })

  test.each([
    ['zzzqqq xyzzy', 'nothing'],
    ['!!', 'nothing'],
    ['🦄🦄', 'nothing'],
    ['\u202e\u200f', 'nothing'],
    ["'; drop table entry; --", 'what has its words'],
    ['"* NEAR/2 (', 'what has its words'],
    ['id IN (1) OR 1=1 --', 'what has its words'],
    ['the of and', 'nothing'],
    ['x', 'what has its words'],
    [`weather ${'a'.repeat(900)}`, 'what has its words'],
  ])('"%s" finds %s, the same through every transport', async (query, found) => {
    const envelope = { to: 'custom.svc.registry', action: 'search', params: { query, limit: 5 } }
    const outcomes = await Promise.all(transports.map((transport) => transport.call(envelope, undefined)))
    for (const outcome of outcomes) expect(outcome).toEqual(outcomes[0])
    const { output } = outcomes[0] as { output: { agents: unknown[]; notice?: string } }
    if (found !== 'nothing') expect(output.agents.length).toBeGreaterThan(0)
    else
      expect(output).toMatchObject({
        agents: [],
        total: 0,
        next_cursor: null,
        notice: expect.stringMatching(/No agent fits/),
      })
  })

  test('each of the 4,677 can be had by its name, with its card', async () => {
    const names: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page = await home.request(
        'GET',
        `/api/agents?sort=name&limit=100${cursor && `&cursor=${cursor}`}`,
      )
      names.push(...page.json.agents.map((agent: Agent) => agent.package_name))
      expect(page.status).toBe(200)
      cursor = page.json.next_cursor
    }
    expect(names.length).toBeGreaterThan(4670)
    expect(new Set(names).size).toBe(names.length)
    for (const name of names.filter((_, index) => index % 40 === 0)) {
      const answer = await home.request('GET', `/public/agents/${encodeURIComponent(name)}`)
      expect([name, answer.status, answer.json.package_name]).toEqual([name, 200, name])
      const served = await home.request(
        'GET',
        `/agents/${encodeURIComponent(name)}/.well-known/agent-card.json`,
      )
      expect([name, served.status]).toEqual([name, 200])
      expect(served.json).toEqual(answer.json.card)
    }
  })
})
