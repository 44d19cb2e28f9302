import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type A2aAgent, serveA2a, serveLegacyA2a } from '../support/a2a-agents.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'

const agents: readonly (readonly [string, () => Promise<A2aAgent>])[] = [
  ['A2A 1.0', serveA2a],
  ['A2A 0.3', serveLegacyA2a],
]

interface Talk {
  listTools(): Promise<{ tools: { name: string; title?: string }[] }>
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results freely
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<any>
  close(): Promise<void>
}

const info = { name: 'test', version: '1' }
const bearer = (token: string) => ({ requestInit: { headers: { Authorization: `Bearer ${token}` } } })

const clients: readonly (readonly [string, (url: URL, token: string) => Promise<Talk>])[] = [
  [
    'the MCP client of 2026-07-28',
    async (url, token) => {
      const client = new Client(info, { versionNegotiation: { mode: 'auto' } })
      await client.connect(new StreamableHTTPClientTransport(url, bearer(token)))
      return client as unknown as Talk
    },
  ],
  [
    'the MCP client of v1',
    async (url, token) => {
      const client = new OldClient(info)
      await client.connect(new OldHttp(url, bearer(token)) as never)
      return client as unknown as Talk
    },
  ],
]

describe.each(agents)('an agent of %s, as a separate MCP server', (_, start) => {
  let agent: A2aAgent
  let gateway: TestGateway
  let token: string

  beforeAll(async () => {
    agent = await start()
    gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: agent.origin })
    token = await gateway.token('ada')
    const manifest_url = `${agent.origin}/.well-known/agent-card.json`
    await list(gateway, { package_name: 'com.example.team/greeter', manifest_url })
    await gateway.gateway.verification.checker.run(new AbortController().signal)
  })

  afterAll(async () => {
    await gateway?.[Symbol.asyncDispose]()
    await agent?.[Symbol.asyncDispose]()
  })

  test.each(clients)('is found by %s, and its skills are tools that answer', async (_, connect) => {
    const talk = await connect(new URL(`${gateway.url}/mcp/agents/com.example.team%2Fgreeter`), token)
    const { tools } = await talk.listTools()
    expect(tools.map((tool) => tool.name)).toEqual(['greet', 'work', 'ask', 'fail', 'hang', 'continue_task'])
    const answer = await talk.callTool({ name: 'greet', arguments: { name: 'Ada' } })
    expect(answer.structuredContent).toEqual({ greeting: 'Hello Ada' })
    const { structuredContent: question } = await talk.callTool({ name: 'ask', arguments: {} })
    expect(question).toMatchObject({ status: 'input_required', next: expect.stringMatching('continue_task') })
    const going = { task_id: question.task_id, input: { text: 'Ada' } }
    const answered = await talk.callTool({ name: 'continue_task', arguments: going })
    expect(answered.structuredContent).toEqual({ greeting: 'Hello Ada' })
    const failure = await talk.callTool({ name: 'fail', arguments: { name: 'Ada' } })
    expect(failure.isError).toBe(true)
    expect(JSON.parse(failure.content[0].text)).toMatchObject({ code: 'upstream_failed' })
    const listed = 'The tools are greet, work, ask, fail, hang, continue_task.'
    await expect(talk.callTool({ name: 'sing_a_song', arguments: {} })).rejects.toThrow(listed)
    await talk.close()
  })

  test.each(['/mcp/agents/com.example.team%2Fgreeter', '/mcp/agents/com.example.team/greeter'])(
    'needs a token to be called at %s, and none to be listed',
    async (path) => {
      const ask = (method: string, params: object) =>
        gateway.request('POST', path, {
          body: { jsonrpc: '2.0', id: 1, method, params },
          headers: { Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': '2025-06-18' },
        })
      expect((await ask('tools/list', {})).status).toBe(200)
      const refused = await ask('tools/call', { name: 'greet', arguments: {} })
      expect(refused.status).toBe(401)
      expect(refused.headers.get('www-authenticate')).toContain('a2a:call')
    },
  )

  test('is listed in the API of the MCP registry at an address that answers', async () => {
    const path = '/v0.1/servers/com.example.team%2Fgreeter/versions/latest'
    const [{ url }] = (await gateway.request('GET', path)).json.server.remotes
    expect(url).toBe(`${gateway.url}/mcp/agents/com.example.team%2Fgreeter`)
  })
})

test('a hosted agent is a separate MCP server too, and an unlisted one is not', async () => {
  await using gateway = await startGateway()
  const client = new Client(info, { versionNegotiation: { mode: 'auto' } })
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp/agents/svc.utility.wiki`)),
  )
  expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual(['search_page', 'get_summary'])
  await client.close()
  const missing = await gateway.request('POST', '/mcp/agents/com.example.nobody', {
    body: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
  })
  expect(missing).toMatchObject({ status: 404, json: { error: { data: { code: 'not_found' } } } })
})
