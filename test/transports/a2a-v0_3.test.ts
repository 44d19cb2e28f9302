import type { MessageSendParams, Task } from 'a2a-sdk-0.3'
import { type Client, ClientFactory, ClientFactoryOptions, JsonRpcTransportFactory } from 'a2a-sdk-0.3/client'
import { afterAll, describe, expect, test } from 'vitest'
import { collect } from '../support/a2a-server.ts'
import { openSession } from '../support/a2a-session.ts'
import { startGateway } from '../support/gateway.ts'

const home = await startGateway()
const session = await openSession({ tasks: { times: { poll: 10, heartbeat: 20 } } })
session.home.gateway.reachedAt(session.url)
afterAll(() => home[Symbol.asyncDispose]())
afterAll(() => session[Symbol.asyncDispose]())

type Part = MessageSendParams['message']['parts'][number]

function asking(part: Part, blocking = true, taskId?: string): MessageSendParams {
  return {
    message: { kind: 'message', messageId: 'm-1', role: 'user', parts: [part], ...(taskId && { taskId }) },
    configuration: { blocking },
  }
}
const text = (words: string, ...more: [boolean?, string?]) => asking({ kind: 'text', text: words }, ...more)

/** A client of the SDK of A2A 0.3, which configures itself from the card. */
async function clientAt(url: string, token?: string): Promise<Client> {
  const fetchImpl: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers)
    if (token !== undefined) headers.set('Authorization', `Bearer ${token}`)
    return fetch(input, { ...init, headers })
  }
  const transports = [new JsonRpcTransportFactory({ fetchImpl })]
  return await new ClientFactory({ ...ClientFactoryOptions.default, transports }).createFromUrl(url)
}

const kindOf = (event: { kind: string; status?: { state: string } }) =>
  [event.kind, event.status?.state].filter(Boolean).join(' ')

describe('the client of the SDK of A2A 0.3', () => {
  test('finds the card and searches in words', async () => {
    const client = await clientAt(`${home.url}/a2a/v1/`)
    const answer = await client.sendMessage(text('read a web page'))
    expect(answer).toMatchObject({ kind: 'message', role: 'agent', contextId: expect.any(String) })
    const [data, words] = 'parts' in answer ? answer.parts : []
    expect(data).toMatchObject({ kind: 'data', data: { agents: expect.any(Array) } })
    expect(words).toMatchObject({ kind: 'text', text: expect.stringContaining('svc.utility.reader') })
  })

  test.each(['', '/', '/a2a/v1', '/a2a/v1/', '/agents/svc.registry/'])(
    'finds the card of the registry by the base URL %j',
    async (base) => {
      const client = await clientAt(`${home.url}${base}`)
      expect(await client.sendMessage(text('read a web page'))).toMatchObject({ kind: 'message' })
    },
  )

  test.each([
    ['/.well-known/agent.json', ''],
    ['/a2a/v1/.well-known/agent.json', ''],
    ['/a2a/v1/svc.utility.wiki/.well-known/agent.json', '?tenant=svc.utility.wiki'],
    ['/agents/svc.utility.wiki/.well-known/agent.json', '?tenant=svc.utility.wiki'],
  ])('has the standard card where clients of 0.2 look for it: %s', async (path, tenant) => {
    const { json } = await home.request('GET', path)
    expect(json).toMatchObject({
      url: `${home.url}/a2a/v1${tenant}`,
      protocolVersion: '0.3.0',
      capabilities: { streaming: true },
    })
  })

  test('calls the agent of its card', async () => {
    const client = await clientAt(`${home.url}/a2a/v1/svc.utility.finance/`, await home.token('caller'))
    const call = { action: 'get_current_price', params: { symbol: '..' } }
    await expect(client.sendMessage(asking({ kind: 'data', data: call }))).rejects.toThrow(
      'is not the symbol of a share',
    )
  })

  test('gets the extended card, in its own shape', async () => {
    const client = await clientAt(`${home.url}/a2a/v1/`, await home.token('caller'))
    const card = await client.getAgentCard()
    expect(card.protocolVersion).toBe('0.3.0')
    expect(card.skills.map(({ id }) => id)).toContain('publish')
  })

  test('begins a task at once, subscribes to it, gets it and cancels it', async () => {
    const client = await clientAt(`${session.url}/a2a/v1/`, await session.home.token('ada'))
    const task = (await client.sendMessage(text('cancelled', false))) as Task
    expect(task).toMatchObject({ kind: 'task', status: { state: 'submitted' } })
    const { tell } = await session.work('cancelled')
    const listening = client.resubscribeTask({ id: task.id })
    expect(kindOf((await listening.next()).value as Task)).toBe('task working')
    await tell({
      artifact: { artifactId: 'a', parts: [{ url: 'https://x.example', mediaType: 'text/html' }] },
    })
    const shown = await client.getTask({ id: task.id, historyLength: 1 })
    expect(shown).toMatchObject({
      status: { state: 'working' },
      history: [{ kind: 'message', role: 'user', parts: [{ kind: 'text', text: 'cancelled' }] }],
      artifacts: [{ parts: [{ kind: 'file', file: { uri: 'https://x.example', mimeType: 'text/html' } }] }],
    })
    expect((await client.cancelTask({ id: task.id })).status.state).toBe('canceled')
    expect((await collect(listening)).map(kindOf)).toEqual(['artifact-update', 'status-update canceled'])
    await expect(client.cancelTask({ id: task.id })).rejects.toThrow('cannot be canceled')
  })

  test('continues a task that asks for input, in another stream', async () => {
    const client = await clientAt(`${session.url}/a2a/v1/`, await session.home.token('ada'))
    const stream = client.sendMessageStream(text('asked'))
    const first = (await stream.next()).value as Task
    await (await session.work('asked')).end('TASK_STATE_INPUT_REQUIRED', [{ text: 'Which?' }])
    const events = await collect(stream)
    expect(events.map(kindOf)).toEqual(['status-update working', 'status-update input-required'])
    expect(events).toMatchObject([{ final: false }, { final: true }])
    const more = client.sendMessageStream(text('answered', true, first.id))
    await more.next()
    await (await session.work('answered')).end('TASK_STATE_COMPLETED')
    expect((await collect(more)).map(kindOf)).toEqual(['status-update working', 'status-update completed'])
  })
})

describe('a frame of 0.3', () => {
  const post = (method: string, params: object, headers: Record<string, string> = {}) =>
    home.request('POST', '/a2a/v1', { body: { jsonrpc: '2.0', id: 1, method, params }, headers })

  test.each([
    ['message/send', { message: {} }, -32602],
    ['message/send', asking({ kind: 'file', file: { bytes: 'AAAA' } }), -32005],
    ['message/send', asking({ kind: 'other' } as unknown as Part), -32602],
    ['message/stream', {}, -32602],
    ['tasks/get', { id: 't' }, -32001],
    ['tasks/cancel', { id: 't' }, -32001],
    ['tasks/resubscribe', { id: 't' }, -32001],
    ['tasks/pushNotificationConfig/set', {}, -32602],
    ['agent/getAuthenticatedExtendedCard', {}, -32051],
    ['message/sned', {}, -32601],
    ['toString', {}, -32601],
  ])('%s %j is refused with %i', async (method, params, code) => {
    const { json, headers } = await post(method, params)
    expect([json.error?.code, headers.get('content-type')]).toEqual([code, 'application/json'])
  })

  test('is of 0.3 if its header says so, and not if it says 1.0', async () => {
    expect((await post('tasks/get', { id: 't' }, { 'A2A-Version': '0.3.0' })).json.error.code).toBe(-32001)
    expect((await post('tasks/get', { id: 't' }, { 'A2A-Version': '1.0' })).json.error.code).toBe(-32601)
    expect((await post('tasks/get', { id: 't' }, { 'A2A-Version': '0.2' })).json.error.code).toBe(-32009)
  })
})
