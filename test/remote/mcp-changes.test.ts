import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'
import { startSessionServer } from '../support/mcp-servers.ts'

const package_name = 'com.example.toolbox'
const done = { content: [{ type: 'text' as const, text: 'done' }] }

/** Each session has a server of its own, as in the examples of the SDKs: no other session hears of its changes. */
const server = await startSessionServer({
  answers: {
    async open(_, { tell }) {
      await tell?.('notifications/tools/list_changed')
      return done
    },
    session: (_, { session = '' }) => ({ content: [{ type: 'text', text: session }] }),
    async pay(_, { tell }) {
      await tell?.('notifications/elicitation/complete', { elicitationId: 'payment' })
      return done
    },
  },
})
const gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: server.origin })
await list(gateway, { package_name, endpoints: [{ protocol: 'mcp', url: server.url }] })
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

async function connected(who: string, mode: 'auto' | 'legacy') {
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode }, capabilities: { elicitation: { form: {}, url: {} } } },
  )
  const received: string[] = []
  client.fallbackNotificationHandler = async ({ method, params }) => {
    received.push(`${method} ${JSON.stringify(params?.elicitationId ?? null)}`)
  }
  const requestInit = { headers: { Authorization: `Bearer ${await gateway.token(who)}` } }
  const url = new URL(`${gateway.url}/mcp/agents/${package_name}`)
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }))
  if (mode === 'auto') await client.listen({ toolsListChanged: true })
  return { client, received, [Symbol.asyncDispose]: () => client.close() }
}

describe('what a server tells one session', () => {
  test.each(['legacy', 'auto'] as const)(
    'of its list of tools reaches the client that listens: %s',
    async (mode) => {
      await using ada = await connected('ada', mode)
      await using bob = await connected('bob', mode)
      const opened = async () => {
        await ada.client.callTool({ name: 'open', arguments: {} })
        return ada.received
      }
      await expect.poll(opened).toContain('notifications/tools/list_changed null')
      expect(bob.received).toEqual([])
    },
  )

  test('of a visit that has ended reaches the client', async () => {
    await using ada = await connected('ada', 'legacy')
    const paid = async () => {
      await ada.client.callTool({ name: 'pay', arguments: {} })
      return ada.received
    }
    await expect.poll(paid).toContain('notifications/elicitation/complete "payment"')
  })
})

test('a session stays while its host is connected, however long nobody calls', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const eve = await connected('eve', 'legacy')
    const session = async () =>
      JSON.stringify((await eve.client.callTool({ name: 'session', arguments: {} })).content)
    const first = await session()
    await vi.advanceTimersByTimeAsync(20 * 60_000)
    expect(await session()).toBe(first)
    await eve[Symbol.asyncDispose]()
    const ended = async () => {
      await vi.advanceTimersByTimeAsync(6 * 60_000)
      const ends = server.seen.filter(({ method }) => method === 'DELETE')
      return ends.some(({ headers }) => first.includes(String(headers['mcp-session-id'])))
    }
    await expect.poll(ended).toBe(true)
  } finally {
    vi.useRealTimers()
  }
})
