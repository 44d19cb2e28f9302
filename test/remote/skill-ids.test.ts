import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, expect, test } from 'vitest'
import { serveA2a } from '../support/a2a-agents.ts'
import { startGateway } from '../support/gateway.ts'
import { listByCard } from '../support/listed.ts'

const to = 'com.example.greeter'

const agent = await serveA2a({ names: { greet: 'Say hello to people', work: 'ask' } })
const gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: agent.origin })
const token = await gateway.token('ada')
await listByCard(gateway, to, agent.origin)

afterAll(() => agent[Symbol.asyncDispose]())
afterAll(() => gateway[Symbol.asyncDispose]())

const sentIds = () => agent.received.splice(0).map(({ metadata }) => metadata.skillId)

test('an entry states the id and the name of each skill', async () => {
  const { json } = await gateway.request('GET', `/public/agents/${to}`)
  expect(json.capabilities).toEqual([
    { name: 'Say hello to people', id: 'greet', description: 'Greets by name, at once.' },
    { name: 'ask', id: 'work', description: 'Greets by name in parts, as a task.' },
    { name: 'ask', description: 'Asks for the name first.' },
    { name: 'fail', description: 'Fails.' },
    { name: 'hang', description: 'Never ends.' },
  ])
})

test.each(['greet', 'Say hello to people'])('the action %j calls the skill by its id', async (action) => {
  const body = { to, action, params: { name: 'Ada' } }
  const answer = await gateway.request('POST', '/a2a/message', { body, token })
  expect(answer.json, answer.text).toEqual({ greeting: 'Hello Ada' })
  expect(sentIds()).toEqual(['greet'])
})

test('an id goes before the name of another skill', async () => {
  const body = { to, action: 'ask', params: { name: 'Ada' } }
  const answer = await gateway.request('POST', '/a2a/message', { body, token })
  expect(answer.json, answer.text).toMatchObject({ status: 'input_required' })
  expect(sentIds()).toEqual(['ask'])
})

test('the card for calls through the gateway has the ids and the names', async () => {
  const { json } = await gateway.request('GET', `/a2a/v1/${to}/.well-known/agent-card.json`)
  expect(json.skills[0]).toMatchObject({ id: 'greet', name: 'Say hello to people' })
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ data: { name: 'Ada' } }] }
  for (const skillId of ['greet', 'Say hello to people']) {
    const body = { message: { ...message, metadata: { skillId } } }
    const headers = { 'A2A-Version': '1.0' }
    const answer = await gateway.request('POST', `/a2a/v1/${to}/message:send`, { body, token, headers })
    expect(answer.status, answer.text).toBe(200)
    expect(sentIds()).toEqual(['greet'])
  }
})

test('an MCP client sees the ids as names of tools, and may call by either', async () => {
  const client = new Client({ name: 'test', version: '1' })
  const requestInit = { headers: { Authorization: `Bearer ${token}` } }
  const url = new URL(`/mcp/agents/${to}`, gateway.url)
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }) as never)
  const { tools } = await client.listTools()
  expect(tools[0]).toMatchObject({ name: 'greet', title: 'Say hello to people' })
  for (const name of ['greet', 'Say hello to people', 'Say_hello_to_people']) {
    const result = await client.callTool({ name, arguments: { name: 'Ada' } })
    expect(result.structuredContent, name).toEqual({ greeting: 'Hello Ada' })
    expect(sentIds()).toEqual(['greet'])
  }
  await client.close()
})
