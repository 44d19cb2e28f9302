import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { rejection } from '../net/support.ts'
import { agentAt, eventually } from '../support/mcp-agent.ts'
import { answerJson, begun, event, events, type Misbehave } from '../support/mcp-answers.ts'
import { startHostileServer } from '../support/mcp-servers.ts'

describe('a server of the 2025 era', () => {
  const done = { content: [{ type: 'text', text: 'done' }] }

  /** Initialises correctly, and answers calls as configured. */
  const old =
    (misbehave: Misbehave): Misbehave =>
    (request, response, body) => {
      if (body?.method === 'initialize') return answerJson(response, body, { result: begun })
      if (body?.method === 'server/discover') return response.writeHead(400).end()
      if (body && body.method !== 'tools/call' && body.method !== 'tools/list')
        return response.writeHead(202).end()
      return misbehave(request, response, body)
    }

  test('that asks its caller waits for the answer, and the call continues with it', async () => {
    let stream: ServerResponse | undefined
    let id: unknown
    const replies: unknown[] = []
    await using server = await startHostileServer((request, response, body) => {
      if (body?.method === undefined && body?.result) {
        replies.push(body.result)
        stream?.end(event({ jsonrpc: '2.0', id, result: done }))
      }
      return old(() => {
        id = body?.id
        stream = response.writeHead(200, events)
        stream.write(
          event({ jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params: { message: 'Who?' } }),
        )
      })(request, response, body)
    })
    await using remote = agentAt(server.url)
    const question = await remote.agent.call('x', {}, remote.call())
    if (!('task' in question)) throw new Error('no question')
    expect(question.question).toEqual({ text: 'com.example.mcp asks: Who?' })
    expect(await remote.ask('continue_task', { name: 'Ada' }, { task: question.task })).toEqual({
      text: 'done',
    })
    expect(replies).toEqual([{ action: 'accept', content: { name: 'Ada' } }])
  })

  test('that closes its stream on purpose is question for the rest', async () => {
    let id: unknown
    await using server = await startHostileServer(
      old((request, response, body) => {
        id ??= body?.id
        response.writeHead(200, events)
        if (request.headers['last-event-id'] === 'e1')
          response.end(event({ jsonrpc: '2.0', id, result: done }))
        else response.end('id: e1\nretry: 1\ndata: \n\n')
      }),
    )
    await using remote = agentAt(server.url)
    expect(await remote.ask('x', {}, { headers: { 'x-call': 'mine' } })).toEqual({ text: 'done' })
    expect(server.seen.at(-1)).toMatchObject({ method: 'GET', headers: { 'x-call': 'mine' } })
  })

  test('that pings its client while it works is not silent', async () => {
    await using server = await startHostileServer(
      old((_, response, body) => {
        if (body.method === undefined) return response.writeHead(202).end()
        response.writeHead(200, events)
        response.write(event({ jsonrpc: '2.0', id: 'p', method: 'ping' }))
        response.end(event({ jsonrpc: '2.0', id: body.id, result: done }))
      }),
    )
    await using remote = agentAt(server.url)
    let spoke = 0
    expect(await remote.ask('x', {}, { onActivity: () => spoke++ })).toEqual({ text: 'done' })
    expect(spoke).toBe(1)
  })

  test('whose tools have changed is question for them again', async () => {
    const tools = [{ name: 'a', inputSchema: { type: 'object' } }]
    await using server = await startHostileServer(
      old((_, response, body) => {
        if (body.method === 'tools/list') return answerJson(response, body, { result: { tools } })
        response.writeHead(200, events)
        response.write(event({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }))
        response.end(event({ jsonrpc: '2.0', id: body.id, result: done }))
      }),
    )
    await using remote = agentAt(server.url)
    await remote.agent.describe?.(remote.call())
    await remote.agent.describe?.(remote.call())
    await remote.ask('a')
    await remote.agent.describe?.(remote.call())
    expect(server.seen.filter(({ rpc }) => rpc === 'tools/list')).toHaveLength(2)
  })

  test('whose tools change while they are listed is asked for them again', async () => {
    await using server = await startHostileServer(
      old((_, response, body) => {
        response.writeHead(200, events)
        response.write(event({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }))
        response.end(event({ jsonrpc: '2.0', id: body.id, result: { tools: [] } }))
      }),
    )
    await using remote = agentAt(server.url)
    await remote.agent.describe?.(remote.call())
    await remote.agent.describe?.(remote.call())
    expect(server.seen.filter(({ rpc }) => rpc === 'tools/list')).toHaveLength(2)
  })

  test('that refuses to initialise has failed, whatever its error code', async () => {
    await using server = await startHostileServer((_, response, body) =>
      answerJson(response, body, { error: { code: -32601, message: 'No such method' } }),
    )
    await using remote = agentAt(server.url)
    expect(await rejection(remote.ask('x'))).toMatchObject({
      code: 'upstream_failed',
      message: 'The agent says: No such method',
    })
  })

  test('whose stream stays open after the answer has it closed', async () => {
    await using server = await startHostileServer(
      old((_, response, body) => {
        response.writeHead(200, events).write(event({ jsonrpc: '2.0', id: body.id, result: done }))
      }),
    )
    await using remote = agentAt(server.url)
    for (let turn = 0; turn < 40; turn++) expect(await remote.ask('x')).toEqual({ text: 'done' })
    await eventually(server.sockets).toBeLessThanOrEqual(2)
  })

  test('that forgets every session fails its callers', async () => {
    await using server = await startHostileServer((request, response, body) => {
      if (body?.method === 'initialize') response.setHeader('mcp-session-id', 's')
      return old(() => response.writeHead(404).end())(request, response, body)
    })
    await using remote = agentAt(server.url)
    expect(await rejection(remote.ask('x'))).toMatchObject({ code: 'upstream_invalid' })
    expect(server.seen.filter(({ rpc }) => rpc === 'tools/call').length).toBeLessThanOrEqual(2)
  })
})
