import { afterAll, describe, expect, test } from 'vitest'
import type { Endpoint } from '../../schemas/entry-parts.ts'
import { serveA2a, serveLegacyA2a } from '../support/a2a-agents.ts'
import { answerJson, serveEnvelopes } from '../support/envelope-agent.ts'
import { askEverywhere, expectAlike } from '../support/everywhere.ts'
import { startGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'
import {
  startModernServer,
  startSessionServer,
  startSocketServer,
  startSseServer,
} from '../support/mcp-servers.ts'
import { openTransports } from '../support/transports.ts'

const capabilities = [
  {
    name: 'greet',
    description: 'Greets people by their name.',
    input_schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  },
  { name: 'fail', description: 'Fails.' },
]

const tools = capabilities.map(({ name, description }) => ({
  name,
  description,
  inputSchema: { type: 'object' as const },
}))
const answers = {
  greet: ({ name }: { name: string }) => ({ content: [], structuredContent: { greeting: `Hello ${name}` } }),
}

interface Kind {
  readonly protocol: string
  readonly start: () => Promise<AsyncDisposable & { readonly origin: string; readonly url?: string }>
  readonly endpoint: (origin: string, url: string) => Endpoint
  /** The expected result of its action `fail`. */
  readonly fails: string
}

const kinds: readonly Kind[] = [
  {
    protocol: 'the envelope',
    start: () =>
      serveEnvelopes(({ action, params }, response) => {
        if (action === 'greet') answerJson(response, { greeting: `Hello ${params.name}` })
        else answerJson(response, { code: 'conflict', detail: 'It is too early to greet.' }, 409)
      }),
    endpoint: (origin) => ({ protocol: 'envelope', url: `${origin}/a2a/message` }),
    fails: 'conflict',
  },
  {
    protocol: 'A2A 1.0 over JSON-RPC',
    start: serveA2a,
    endpoint: (origin) => ({ protocol: 'a2a', url: `${origin}/rpc`, version: '1.0', binding: 'JSONRPC' }),
    fails: 'upstream_failed',
  },
  {
    protocol: 'A2A 1.0 over HTTP+JSON',
    start: serveA2a,
    endpoint: (origin) => ({ protocol: 'a2a', url: `${origin}/rest`, version: '1.0', binding: 'HTTP+JSON' }),
    fails: 'upstream_failed',
  },
  {
    protocol: 'A2A 0.3',
    start: serveLegacyA2a,
    endpoint: (origin) => ({ protocol: 'a2a', url: `${origin}/rpc`, version: '0.3.0' }),
    fails: 'upstream_failed',
  },
  ...(
    [
      ['MCP of 2026-07-28', startModernServer],
      ['MCP with sessions of 2025', startSessionServer],
      ['MCP over HTTP+SSE of 2024', startSseServer],
      ['MCP over WebSocket', startSocketServer],
    ] as const
  ).map(
    ([protocol, start]): Kind => ({
      protocol,
      start: () => start({ tools, answers }),
      endpoint: (_, url) => ({ protocol: 'mcp', url }),
      fails: 'upstream_failed',
    }),
  ),
]

/** A word that distinguishes the agents in a search. */
const languages = ['Norwegian', 'Welsh', 'Maltese', 'Basque', 'Finnish', 'Latvian', 'Irish', 'Greek']
const all = kinds.map((kind, at) => ({
  ...kind,
  language: languages[at] ?? '',
  to: `com.example.greeter-${languages[at]?.toLowerCase()}`,
}))

const stack = new AsyncDisposableStack()

const agents = await Promise.all(all.map(async ({ start }) => stack.use(await start())))
const origins = agents.map(({ origin }) => origin).join()
const gateway = stack.use(await startGateway({ DRAGOMAN_ALLOW_ORIGINS: origins }))
const token = await gateway.token('ada')
for (const [at, { to, language, endpoint }] of all.entries()) {
  const { origin = '', url = '' } = agents[at] ?? {}
  const description = `Says hello to people in ${language}, by their name.`
  await list(gateway, { package_name: to, description, endpoints: [endpoint(origin, url)], capabilities })
}
const transports = openTransports(gateway)
for (const transport of transports) stack.use(transport)

afterAll(() => stack.disposeAsync())

describe.each(all)('a listed agent of $protocol', ({ to, language, fails }) => {
  test('is found by intent, and called by the name that was found, through every transport', async () => {
    const search = {
      to: 'svc.registry',
      action: 'search',
      params: { query: `say hello to somebody in ${language}`, limit: 1 },
    }
    for (const transport of transports) {
      const found = (await transport.call(search, token)) as {
        output: { agents: { package_name: string }[] }
      }
      const [first] = found.output.agents
      expect({ transport: transport.name, found: first?.package_name }).toEqual({
        transport: transport.name,
        found: to,
      })
      const envelope = { to: first?.package_name, action: 'greet', params: { name: 'Ada' } }
      expect({ transport: transport.name, ...(await transport.call(envelope, token)) }).toEqual({
        transport: transport.name,
        output: { greeting: 'Hello Ada' },
      })
    }
  })

  test.each([
    ['fails', { action: 'fail', params: {} }, true, fails],
    ['is asked what its schema refuses', { action: 'greet', params: { name: 7 } }, true, 'invalid_request'],
    ['is asked for what it does not do', { action: 'sing', params: {} }, true, 'unknown_action'],
    [
      'is asked by somebody without a token',
      { action: 'greet', params: { name: 'x' } },
      false,
      'unauthenticated',
    ],
  ])('%s the same way through every transport', async (_, action, signed, code) => {
    const envelope = { to, ...action }
    const outcomes = await askEverywhere(gateway, transports, { envelope }, signed ? token : undefined)
    expect(expectAlike(outcomes)).toEqual({ code })
  })
})
