import { resolve } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js'
import { afterAll, describe, expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { toolNames } from '../support/hosted.ts'
import { messageIn, modernHeaders, modernRequest } from '../support/mcp.ts'

const home = await startGateway()
afterAll(() => home[Symbol.asyncDispose]())

test.each(['GET', 'DELETE', 'PUT'])('%s /mcp is refused with what to do', async (method) => {
  const { status, headers, json } = await home.request(method, '/mcp')
  expect([status, headers.get('allow')]).toEqual([405, 'OPTIONS, POST'])
  expect(json.error.data).toMatchObject({
    code: 'method_not_allowed',
    hint: expect.stringContaining('Connect an MCP client to this URL'),
  })
})

test.each([
  ['/mcp', {}, 'OPTIONS, POST'],
  ['/mcp', { 'Mcp-Session-Id': 'x' }, 'DELETE, OPTIONS, POST'],
  ['/mcp/agents/svc.registry', {}, 'OPTIONS, POST'],
])('OPTIONS %s with the headers %j allows what is not answered 405', async (path, headers, allow) => {
  const answer = await home.request('OPTIONS', path, { headers })
  expect([answer.status, answer.headers.get('allow')]).toEqual([204, allow])
  for (const method of ['GET', 'DELETE', 'PUT']) {
    const { status } = await home.request(method, path, { headers })
    expect(status === 405).toBe(!allow.includes(method))
  }
})

test.each([
  ['tools/lst', ['tools/list']],
  ['zzzzzzzz', undefined],
])('the unknown method %s has a stable code in every protocol version', async (method, nearest) => {
  const modern = { body: modernRequest(1, method, {}), headers: modernHeaders(method) }
  const legacy = { body: { jsonrpc: '2.0', id: 1, method, params: {} } }
  const answers = await Promise.all([modern, legacy].map((sent) => home.request('POST', '/mcp', sent)))
  expect(answers.map(({ status }) => status)).toEqual([404, 200])
  for (const { json } of answers) {
    expect(json.error).toMatchObject({ code: -32601, data: { code: 'unknown_action' } })
    expect(json.error.data.nearest).toEqual(nearest)
    expect(json.error.message.includes('Did you mean')).toBe(nearest !== undefined)
  }
})

test('a method of 2026-07-28 without its version is told where to state it', async () => {
  for (const method of ['subscriptions/listen', 'server/discover']) {
    const { json } = await home.request('POST', '/mcp', {
      body: { jsonrpc: '2.0', id: 1, method, params: {} },
    })
    expect(json.error).toMatchObject({ code: -32601, data: { code: 'unknown_action' } })
    expect(json.error.message).toContain('params._meta as io.modelcontextprotocol/protocolVersion')
  }
})

test.each([
  ['completion/complete', {}, '/ref: This field is required.'],
  ['prompts/get', { name: 'x' }, '/name: The prompt x is unknown. The prompts are find_agent, use_agent.'],
])('%s with the params %j says in plain words what is wrong', async (method, params, message) => {
  const { json } = await home.request('POST', '/mcp', { body: { jsonrpc: '2.0', id: 1, method, params } })
  expect(json.error).toMatchObject({ code: -32602, message, data: { code: 'invalid_request' } })
})

test('a cursor of a list with one page has a stable code', async () => {
  const { json } = await home.request('POST', '/mcp', {
    body: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { cursor: 'x' } },
  })
  expect(json.error).toMatchObject({ code: -32602, data: { code: 'invalid_request' } })
})

test('a body that is no message is refused with a message that would be one', async () => {
  const { status, json } = await home.request('POST', '/mcp', { body: {} })
  expect([status, json.error.code]).toEqual([400, -32600])
  expect(json.error.data.hint).toContain('{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}')
})

const info = { name: 'test', version: '1' }

const stdio = () =>
  new StdioClientTransport({
    command: process.execPath,
    args: [resolve(import.meta.dirname, '../../bin/dragoman.js'), 'mcp'],
    env: {
      DRAGOMAN_DATA: home.data,
      DRAGOMAN_LOG: 'silent',
      DRAGOMAN_CONTACT: 'tests@example.org',
      PATH: process.env.PATH ?? '',
    },
    stderr: 'ignore',
  })

interface Talk {
  listTools(): Promise<{ tools: { name: string }[] }>
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>
  close(): Promise<void>
}

/** Clients that other people wrote, in both eras, on every transport they have. */
const clients: Record<string, () => Promise<Talk>> = {
  'v2, 2025 era, HTTP': async () =>
    connected(new Client(info), new StreamableHTTPClientTransport(new URL(`${home.url}/mcp`))),
  'v2, 2026-07-28, HTTP': async () =>
    connected(
      new Client(info, { versionNegotiation: { mode: 'auto' } }),
      new StreamableHTTPClientTransport(new URL(`${home.url}/mcp`)),
    ),
  'v2, 2025 era, stdio': async () => connected(new Client(info), stdio()),
  'v2, 2026-07-28, stdio': async () =>
    connected(new Client(info, { versionNegotiation: { mode: 'auto' } }), stdio()),
  'v1, HTTP': async () => {
    const client = new OldClient(info)
    await client.connect(new OldHttp(new URL(`${home.url}/mcp`)) as never)
    return client as unknown as Talk
  },
  'v1, WebSocket': async () => {
    const client = new OldClient(info)
    await client.connect(new WebSocketClientTransport(new URL(`${home.url.replace('http', 'ws')}/mcp/ws`)))
    return client as unknown as Talk
  },
}

async function connected(client: Client, transport: Parameters<Client['connect']>[0]): Promise<Talk> {
  await client.connect(transport)
  return client as unknown as Talk
}

describe.each(Object.entries(clients))('the client %s', (_, open) => {
  test('lists the tools in order, finds an agent, and reports errors', async () => {
    const client = await open()
    try {
      const { tools } = await client.listTools()
      expect(tools.map((tool) => tool.name)).toEqual(toolNames)
      const found = await client.callTool({
        name: 'search_agents',
        arguments: { query: 'encyclopedia', limit: 2 },
      })
      expect(found).toMatchObject({
        structuredContent: { agents: [{ package_name: 'svc.utility.wiki' }], total: 1 },
      })
      const { content, structuredContent } = found as {
        content: { text: string }[]
        structuredContent: unknown
      }
      expect(JSON.parse(content[0]?.text ?? '')).toEqual(structuredContent)
      const refused = await client.callTool({ name: 'search_agents', arguments: { limit: 0 } })
      expect(refused).toMatchObject({ isError: true })
      expect(JSON.parse((refused as { content: { text: string }[] }).content[0]?.text ?? '').code).toBe(
        'invalid_request',
      )
      await expect(client.callTool({ name: 'serch_agents', arguments: {} })).rejects.toThrow(
        /tool serch_agents is unknown/,
      )
    } finally {
      await client.close()
    }
  })
})

const modern = (method: string, params: Record<string, unknown>, headers: Record<string, string> = {}) =>
  fetch(`${home.url}/mcp`, {
    method: 'POST',
    headers: { ...modernHeaders(method, params.name as string | undefined), ...headers },
    body: JSON.stringify(modernRequest(1, method, params)),
  })

describe('Streamable HTTP', () => {
  test.each([
    ['serach_agents', /^The tool serach_agents is unknown\. Did you mean search_agents\?$/],
    [
      'com.example.weather',
      /^The tool com\.example\.weather is unknown\. The tools are search_agents, .*call_agent/,
    ],
  ])('a call of the tool %s, which is unknown, says in its message what to call', async (name, message) => {
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } }
    const { json } = await home.request('POST', '/mcp', { body })
    expect(json.error).toMatchObject({ code: -32602, message: expect.stringMatching(message) })
  })

  test('every tool has a title, annotations and, but for those that pass on the words of others, an object for its output', async () => {
    const { result } = messageIn(await (await modern('tools/list', {})).text()) as {
      result: { tools: Record<string, never>[] }
    }
    for (const tool of result.tools) {
      expect(tool).toMatchObject({
        title: expect.any(String),
        inputSchema: { type: 'object' },
        ...(!['call_agent', 'continue_task'].includes(String(tool.name)) && {
          outputSchema: { type: 'object' },
        }),
      })
      expect(tool.annotations).toMatchObject({
        readOnlyHint: expect.any(Boolean),
        openWorldHint: expect.any(Boolean),
      })
    }
  })

  test.each(['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'])(
    'both eras answer %s with the very same items',
    async (method) => {
      const request = { jsonrpc: '2.0', id: 1, method }
      const accept = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' }
      const old = await home.request('POST', '/mcp', { headers: accept, body: request })
      const { result } = messageIn(old.text) as { result: Record<string, unknown> }
      const now = messageIn(await (await modern(method, {})).text()) as { result: Record<string, unknown> }
      const [items] = Object.keys(result)
      expect(items).toMatch(/tools|prompts|resources|resourceTemplates/)
      expect(now.result[items ?? '']).toEqual(result[items ?? ''])
    },
  )

  test('call_agent, which can reach any agent, is marked destructive', async () => {
    const { result } = messageIn(await (await modern('tools/list', {})).text()) as {
      result: { tools: { name: string; annotations: object }[] }
    }
    const tool = result.tools.find(({ name }) => name === 'call_agent')
    expect(tool?.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true })
  })

  test('a page of a foreign origin is refused with 403', async () => {
    expect((await modern('tools/list', {}, { Origin: 'https://evil.example' })).status).toBe(403)
    expect((await modern('tools/list', {}, { Origin: 'http://localhost:5173' })).status).toBe(403)
    const { port } = new URL(home.url)
    expect((await modern('tools/list', {}, { Origin: `http://localhost:${port}` })).status).toBe(200)
  })

  test('a bad token is 401 with a challenge, a good one reaches the action', async () => {
    const bad = await modern('tools/list', {}, { Authorization: 'Bearer bad' })
    expect(bad.status).toBe(401)
    expect(bad.headers.get('www-authenticate')).toContain('invalid_token')
    const call = { name: 'finance_get_current_price', arguments: { symbol: '..' } }
    const code = async (headers: Record<string, string>) => {
      const { result } = messageIn(await (await modern('tools/call', call, headers)).text()) as {
        result: { content: { text: string }[] }
      }
      return JSON.parse(result.content[0]?.text ?? '').code
    }
    expect(await code({ Authorization: `Bearer ${await home.token('somebody')}` })).toBe('invalid_request')
  })

  test('a header that contradicts the body is refused', async () => {
    const answer = await modern(
      'tools/call',
      { name: 'search_agents', arguments: {} },
      { 'Mcp-Name': 'call_agent' },
    )
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ error: { code: -32020, data: { code: 'invalid_request' } } })
  })
})
