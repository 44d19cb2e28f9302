import {
  Client,
  ClientCredentialsProvider,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { afterAll, describe, expect, test } from 'vitest'
import type { Scope } from '../../schemas/scope.ts'
import { startGateway } from '../support/gateway.ts'
import { messageIn, modernHeaders, modernRequest } from '../support/mcp.ts'
import { openSocket } from '../support/socket.ts'

const home = await startGateway()
afterAll(() => home[Symbol.asyncDispose]())

const price = { name: 'finance_get_current_price', arguments: { symbol: '..' } }
const priceByName = {
  name: 'call_agent',
  arguments: {
    package_name: 'custom.svc.utility.finance',
    action: 'get_current_price',
    params: { symbol: '..' },
  },
}

const eras = {
  '2026-07-28': (params: typeof price | typeof priceByName) => ({
    headers: modernHeaders('tools/call', params.name),
    body: modernRequest('id', 'tools/call', params),
  }),
  '2025-11-25': (params: typeof price | typeof priceByName) => ({
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': '2025-11-25',
    },
    body: { jsonrpc: '2.0', id: 'id', method: 'tools/call', params },
  }),
}

describe.each(Object.entries(eras))('a call over HTTP, %s', (_, request) => {
  const call = async (params: typeof price | typeof priceByName, token?: string) => {
    const { headers, body } = request(params)
    const answer = await fetch(`${home.url}/mcp`, {
      method: 'POST',
      headers: { ...headers, ...(token !== undefined && { Authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
    })
    const message = messageIn(await answer.text()) as {
      id: unknown
      error?: { code: number; data: { code: string } }
    }
    return { status: answer.status, challenge: answer.headers.get('www-authenticate') ?? '', message }
  }
  const metadata = () => `resource_metadata="${home.url}/.well-known/oauth-protected-resource/mcp"`

  test.each([price, priceByName])('without a token is 401: $name', async (params) => {
    const { status, challenge, message } = await call(params)
    expect(status).toBe(401)
    expect(challenge).toBe(`Bearer realm="dragoman", scope="agents:read a2a:call", ${metadata()}`)
    expect(message).toMatchObject({
      jsonrpc: '2.0',
      id: 'id',
      error: { code: -32001, data: { code: 'unauthenticated' } },
    })
  })

  test('with an invalid token is 401 with the reason', async () => {
    const { status, challenge, message } = await call(price, 'bad')
    expect([status, message.error?.data.code]).toEqual([401, 'unauthenticated'])
    expect(challenge).toContain('error="invalid_token"')
    expect(challenge).toContain(metadata())
  })

  test.each([price, priceByName])('without the scope is 403 and names it: $name', async (params) => {
    const { status, challenge, message } = await call(
      params,
      await home.token('ada', { scopes: ['agents:read'] }),
    )
    expect(status).toBe(403)
    expect(challenge).toBe(
      `Bearer realm="dragoman", error="insufficient_scope", scope="a2a:call", ${metadata()}`,
    )
    expect(message).toMatchObject({ id: 'id', error: { code: -32003, data: { code: 'forbidden' } } })
  })

  test('with the scope reaches the action, whose failure is a result', async () => {
    const { status, message } = await call(price, await home.token('ada', { scopes: ['a2a:call'] }))
    expect(status).toBe(200)
    expect(message).toMatchObject({ result: { isError: true } })
  })
})

test('on a socket the same refusal is a result that the model reads', async () => {
  await using peer = await openSocket(`${home.url}/mcp/ws`, ['mcp'])
  peer.send(modernRequest(1, 'tools/call', price))
  expect(await peer.answer(1)).toMatchObject({
    result: { isError: true, _meta: { 'dragoman/problem': { code: 'unauthenticated', scope: 'a2a:call' } } },
  })
})

describe('the SDK’s client with an API key of ours', () => {
  const keyOf = async (scopes: Scope[]) =>
    (await home.request('POST', '/api/keys', { token: await home.token('ada', { scopes }) })).json as {
      id: string
      key: string
    }

  test.each([
    ['2026-07-28', { versionNegotiation: { mode: { pin: '2026-07-28' } } }],
    ['2025-11-25', {}],
  ] as const)('finds our token endpoint by the 401, and calls: %s', async (_, options) => {
    const { id, key } = await keyOf(['a2a:call', 'agents:read'])
    const authProvider = new ClientCredentialsProvider({
      clientId: id,
      clientSecret: key,
      expectedIssuer: home.url,
    })
    const client = new Client({ name: 'test', version: '1' }, options)
    await client.connect(new StreamableHTTPClientTransport(new URL(`${home.url}/mcp`), { authProvider }))
    expect(authProvider.tokens()).toBeUndefined()
    const answer = await client.callTool(price)
    expect(answer).toMatchObject({
      isError: true,
      _meta: { 'dragoman/problem': { code: 'invalid_request' } },
    })
    expect(authProvider.tokens()?.scope).toContain('a2a:call')
    await client.close()
  })
})

// The only literal list of the hosted tools, which notices a tool that is lost by accident.
test('each tool names the scope that it needs', async () => {
  const answer = await home.request('POST', '/mcp', {
    headers: modernHeaders('tools/list'),
    body: modernRequest(1, 'tools/list', {}),
  })
  const tools = answer.json.result.tools as { name: string; _meta?: Record<string, string> }[]
  expect(tools.map(({ name, _meta }) => [name, _meta?.['dragoman/scope']])).toEqual([
    ['search_agents', undefined],
    ['resolve_package', undefined],
    ['wiki_search_page', 'a2a:call'],
    ['wiki_get_summary', 'a2a:call'],
    ['finance_get_current_price', 'a2a:call'],
    ['reader_extract_content', 'a2a:call'],
    ['call_agent', undefined],
    ['continue_task', 'a2a:call'],
  ])
})
