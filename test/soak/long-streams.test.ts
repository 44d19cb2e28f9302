import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { serve } from '../net/support.ts'
import { eventsOf } from '../support/a2a-server.ts'
import { startGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'
import { modernHeaders, modernRequest } from '../support/mcp.ts'
import { startModernServer } from '../support/mcp-servers.ts'

/** Ten minutes with progress every five seconds; in CI a shorter call, under shorter limits of silence. */
const isShort = process.env.SOAK_ROUNDS !== undefined
const [steps, step_ms, silence_s] = isShort ? [10, 2_000, 6] : [120, 5_000, 60]

async function work(progress: (step: number) => unknown): Promise<void> {
  for (let step = 1; step <= steps; step++) {
    await pause(step_ms)
    await progress(step)
  }
}

const card = (url: string) => ({
  name: 'Slow',
  description: 'Works for a long time.',
  supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: { streaming: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'work', name: 'work', description: 'Works.', tags: ['work'] }],
})

test('a call that tells of its progress for a long time ends as it should, by A2A, by MCP and by events of REST', async () => {
  await using a2a = await serve((request, response) => {
    let text = ''
    request.on('data', (chunk) => {
      text += chunk
    })
    request.on('end', async () => {
      if (request.method === 'GET') return void response.end(JSON.stringify(card(`${a2a.origin}/rpc`)))
      const { id } = JSON.parse(text)
      const ids = { taskId: 't', contextId: 'c' }
      const write = (result: object) =>
        response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`)
      response.setHeader('Content-Type', 'text/event-stream')
      const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'working' }] }
      await work(() => write({ statusUpdate: { ...ids, status: { state: 'TASK_STATE_WORKING', message } } }))
      write({ artifactUpdate: { ...ids, artifact: { artifactId: 'a', parts: [{ text: 'done' }] } } })
      write({ statusUpdate: { ...ids, status: { state: 'TASK_STATE_COMPLETED' } } })
      response.end()
    })
  })
  await using mcp = await startModernServer({
    answers: {
      async work(_, { progress }) {
        await work((step) => progress(step, steps, 'working'))
        return { content: [{ type: 'text', text: 'done' }] }
      },
    },
  })
  await using gateway = await startGateway({
    DRAGOMAN_ALLOW_ORIGINS: `${a2a.origin},${mcp.origin}`,
    DRAGOMAN_CALL_FIRST: String(silence_s),
    DRAGOMAN_CALL_IDLE: String(silence_s),
  })
  const token = await gateway.token('ada')
  await list(gateway, { package_name: 'com.example.task', manifest_url: `${a2a.origin}/card.json` })
  await list(gateway, { package_name: 'com.example.tool', endpoints: [{ protocol: 'mcp', url: mcp.url }] })
  await gateway.gateway.verification.checker.run(new AbortController().signal)

  const post = (path: string, body: object, headers: Record<string, string>) =>
    fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}`, ...headers },
      body: JSON.stringify(body),
    })

  async function byA2a(): Promise<void> {
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'work' }] }
    const answer = await post(
      '/a2a/v1/message:stream',
      { tenant: 'com.example.task', message },
      { 'A2A-Version': '1.0' },
    )
    // biome-ignore lint/suspicious/noExplicitAny: tests look into events freely
    const events: any[] = []
    for await (const event of eventsOf(answer)) events.push(event)
    const working = events.filter((event) => event.statusUpdate?.status.message?.parts[0].text === 'working')
    expect(working).toHaveLength(steps)
    expect(events.at(-1).statusUpdate.status.state).toBe('TASK_STATE_COMPLETED')
    expect(events.at(-2).artifactUpdate.artifact.parts).toEqual([{ text: 'done' }])
  }

  async function byRest(): Promise<void> {
    const body = { to: 'com.example.task', action: 'send_message', params: { text: 'work' } }
    const text = await (await post('/a2a/message', body, { Accept: 'text/event-stream' })).text()
    expect(text.match(/event: progress/g)).toHaveLength(steps)
    expect(text).toContain('event: result\ndata: {"text":"done"}')
  }

  async function byMcp(): Promise<void> {
    const name = 'call_agent'
    const call = { name, arguments: { package_name: 'com.example.tool', action: 'work', params: {} } }
    const request = modernRequest(1, 'tools/call', call) as { params: { _meta: object } }
    Object.assign(request.params._meta, { progressToken: 'p' })
    const text = await (await post('/mcp', request, modernHeaders('tools/call', name))).text()
    expect(text.match(/notifications\/progress/g)).toHaveLength(steps)
    expect(text).toContain('"text":"done"')
  }

  await Promise.all([byA2a(), byRest(), byMcp()])
}, 700_000)
