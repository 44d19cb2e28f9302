import { Client, ProtocolError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { a2aVersion } from '../support/a2a.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'
import { type McpServer, startSessionServer } from '../support/mcp-servers.ts'

const package_name = 'com.example.asks'
const textResult = (text: string) => ({ content: [{ type: 'text' as const, text }] })

let server: McpServer
let gateway: TestGateway
let token: string
/** How each question of the tool `ask` ended. */
const ended: ((outcome: string) => void)[] = []
const nextEnd = () => new Promise<string>((resolve) => ended.push(resolve))
const end = (outcome: string) => {
  for (const tell of ended.splice(0)) tell(outcome)
}

beforeAll(async () => {
  server = await startSessionServer({
    tools: ['think', 'ask'].map((name) => ({ name, inputSchema: { type: 'object' } })),
    answers: {
      async think(_, { sample }) {
        const thought = await sample?.('What now?').catch(({ code, message }) => `${code}: ${message}`)
        return textResult(String(thought))
      },
      async ask(_, { elicit, signal }) {
        signal.addEventListener('abort', () => end('cancelled'), { once: true })
        const answer = await elicit?.('Who are you?')
        end(String(answer?.action))
        return textResult('asked')
      },
    },
  })
  gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: server.origin })
  await list(gateway, { package_name, endpoints: [{ protocol: 'mcp', url: server.url }] })
  token = await gateway.token('ada')
})
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
})

async function connect(client: Client, path: string): Promise<void> {
  const requestInit = { headers: { Authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(gateway.url + path), { requestInit }))
}

const addresses = [
  ['at its address', `/mcp/agents/${package_name}`, (name: string) => ({ name, arguments: {} })],
  [
    'by call_agent',
    '/mcp',
    (action: string) => ({ name: 'call_agent', arguments: { agent: package_name, action } }),
  ],
] as const

const info = { name: 'test', version: '1' }
const legacy = { versionNegotiation: { mode: 'legacy' } } as const

test.each(addresses)(
  'a server %s is told that the client refuses its question, and goes on',
  async (_, path, call) => {
    const client = new Client(info, { capabilities: { sampling: {} }, ...legacy })
    client.setRequestHandler('sampling/createMessage', () => {
      throw new ProtocolError(-1, 'The user rejected it.')
    })
    await connect(client, path)
    const { content } = await client.callTool(call('think'))
    expect(content).toEqual([{ type: 'text', text: expect.stringMatching(/^-1: .*The user rejected it\.$/) }])
    await client.close()
  },
)

test.each(addresses)(
  'a server %s is told that the client has cancelled the call in which it asks, however often',
  async (_, path, call) => {
    const client = new Client(info, { capabilities: { elicitation: { form: {} } }, ...legacy })
    let leaving = new AbortController()
    client.setRequestHandler('elicitation/create', () => {
      leaving.abort()
      return new Promise(() => {})
    })
    await connect(client, path)
    // One more than the questions that a caller may leave open.
    for (let attempt = 0; attempt < 9; attempt++) {
      leaving = new AbortController()
      const ending = nextEnd()
      await expect(client.callTool(call('ask'), { signal: leaving.signal })).rejects.toThrow()
      expect(await ending).toBe('cancelled')
    }
    await client.close()
  },
)

test('a server is told that the task of A2A in which it asks is cancelled', async () => {
  const post = async (path: string, body: object) =>
    (await gateway.request('POST', `/a2a/v1/${package_name}${path}`, { body, token, headers: a2aVersion }))
      .json
  const parts = [{ data: {} }]
  const message = { messageId: 'm-1', role: 'ROLE_USER', parts, metadata: { skillId: 'ask' } }
  const { task } = await post('/message:send', { message })
  expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED')
  const ending = nextEnd()
  const { status } = await post(`/tasks/${task.id}:cancel`, {})
  expect(status.state).toBe('TASK_STATE_CANCELED')
  expect(await ending).toBe('cancel')
})
