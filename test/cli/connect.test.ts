import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as OldStdio } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, describe, expect, test } from 'vitest'
import { serve } from '../net/support.ts'
import { command, run } from '../support/command.ts'
import { startGateway } from '../support/gateway.ts'
import { modernRequest } from '../support/mcp.ts'
import { run as start } from '../support/processes.ts'

const home = await startGateway()
afterAll(() => home[Symbol.asyncDispose]())

const transports = {
  WebSocket: () => `${home.url.replace('http', 'ws')}/mcp/ws`,
  'Streamable HTTP': () => `${home.url}/mcp`,
}
const info = { name: 'test', version: '1' }
const call = { name: 'finance_get_current_price', arguments: { symbol: '..' } }

describe.each(Object.entries(transports))('connect over %s', (_, url) => {
  const parameters = (token: string) => ({
    command: process.execPath,
    args: [command, 'connect', url()],
    env: { PATH: process.env.PATH ?? '', DRAGOMAN_TOKEN: token },
    stderr: 'ignore' as const,
  })
  const clients = {
    v1: async (token: string) => {
      const client = new OldClient(info)
      await client.connect(new OldStdio(parameters(token)))
      return client
    },
    'v2, 2025 era': async (token: string) => {
      const client = new Client(info)
      await client.connect(new StdioClientTransport(parameters(token)))
      return client
    },
    'v2, 2026-07-28': async (token: string) => {
      const client = new Client(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
      await client.connect(new StdioClientTransport(parameters(token)))
      return client
    },
  }

  test.each(Object.entries(clients))('is a server like any other to the client %s', async (__, open) => {
    const client = await open(await home.token('ada'))
    try {
      const { tools } = await client.listTools()
      expect(tools.map(({ name }) => name)).toContain('search_agents')
      expect(await client.callTool(call)).toMatchObject({
        isError: true,
        _meta: { 'dragoman/problem': { code: 'invalid_request' } },
      })
    } finally {
      await client.close()
    }
  })

  test('exits with 0 at the end of its input, without output', async () => {
    await using peer = start(process.execPath, [command, 'connect', url()])
    peer.process.stdin?.end()
    expect(await peer.ended).toMatchObject({ code: 0, stdout: '', stderr: '' })
  })

  test('reports a bad token as an error with its code', async () => {
    await using peer = start(process.execPath, [command, 'connect', url(), '--token', 'bad'])
    peer.process.stdin?.end(`${JSON.stringify(modernRequest(7, 'tools/list', {}))}\n`)
    const { code, stdout } = await peer.ended
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      id: 7,
      error: { code: -32001, data: { code: 'unauthenticated', status: 401 } },
    })
  })
})

test.each([
  ['another server', 'https://registry.example', undefined],
  ['the server of DRAGOMAN_URL', undefined, 'Bearer mine'],
])('DRAGOMAN_TOKEN beside DRAGOMAN_URL: what %s gets', async (_, other, expected) => {
  const seen: (string | undefined)[] = []
  await using server = await serve((request, response) => {
    seen.push(request.headers.authorization)
    response.writeHead(401).end()
  })
  const environment = { DRAGOMAN_URL: other ?? server.origin, DRAGOMAN_TOKEN: 'mine' }
  await using peer = start(process.execPath, [command, 'connect', `${server.origin}/mcp`], environment)
  peer.process.stdin?.end(`${JSON.stringify(modernRequest(7, 'tools/list', {}))}\n`)
  const { stderr } = await peer.ended
  expect(seen).toEqual([expected])
  expect(stderr.includes('does not get it')).toBe(expected === undefined)
})

test.each([
  ['nonsense'],
  ['ftp://example.com/mcp'],
  ['https://ada:secret@example.com/mcp'],
  ['wss://example.com/mcp/ws?token=abc'],
  ['http://127.0.0.1:9/mcp', '--header', 'no header'],
])('connect %s ends with 2, in words', async (...args) => {
  const ended = await run(['connect', ...args], {})
  expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/invalid_request/) })
})
