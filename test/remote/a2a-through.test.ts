import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestServer } from '../net/support.ts'
import { serveRpcAgent } from '../support/a2a-rpc-agent.ts'
import { eventsOf } from '../support/a2a-server.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'

const to = 'com.example.traveller'
const ids = { taskId: 't-1', contextId: 'c-1' }
// biome-ignore lint/suspicious/noExplicitAny: tests look into messages freely
type Loose = any

const agentMessage = (parts: object[], more: object = {}) => ({
  messageId: 'm-9',
  role: 'ROLE_AGENT',
  parts,
  ...more,
})
const begun = { task: { id: 't-1', contextId: 'c-1', status: { state: 'TASK_STATE_SUBMITTED' } } }
const status = (state: string, message?: object, more: object = {}) => ({
  statusUpdate: { ...ids, status: { state: `TASK_STATE_${state}`, ...(message && { message }) }, ...more },
})
const artifact = (artifactId: string, parts: object[], more: object = {}, event: object = {}) => ({
  artifactUpdate: { ...ids, artifact: { artifactId, parts, ...more }, ...event },
})
const bytes = Buffer.from('PNG').toString('base64')
const largeBytes = Buffer.alloc(600 * 1024).toString('base64')

/** What the agent answers, by the first text of the message. */
const answers: Readonly<Record<string, readonly object[]>> = {
  'a message': [
    { message: agentMessage([{ text: 'Hi', mediaType: 'text/plain' }], { metadata: { mood: 'good' } }) },
  ],
  'text beside data': [{ message: agentMessage([{ text: 'Two' }, { data: { n: 2 } }, { text: 'after' }]) }],
  files: [
    {
      message: agentMessage([
        { raw: bytes, filename: 'a.png', mediaType: 'image/png' },
        { url: 'https://example.com/b.pdf', filename: 'b.pdf', mediaType: 'application/pdf' },
      ]),
    },
  ],
  'chunks of text': [
    begun,
    status('WORKING', agentMessage([{ text: 'Thinking' }])),
    artifact('reply', [{ text: 'chunk0 ' }], { name: 'Reply', description: 'Words.', metadata: { n: 1 } }),
    artifact('reply', [{ text: 'chunk1 ' }], { name: 'Reply' }, { append: true }),
    artifact('reply', [{ text: 'chunk2' }], { name: 'Reply' }, { append: true, lastChunk: true }),
    status('COMPLETED', agentMessage([{ text: 'Done' }]), { metadata: { cost: 3 } }),
  ],
  'two artifacts': [
    begun,
    artifact('a', [{ text: 'one' }], { extensions: ['urn:example:x'] }, { lastChunk: true }),
    artifact('b', [{ data: [1, 2] }], {}, { lastChunk: true }),
    status('COMPLETED'),
  ],
  'what comes in a later version': [
    begun,
    status('PAUSED', agentMessage([{ text: 'Wait', weight: 3 }], { tone: 'calm' }), { priority: 1 }),
    artifact('a', [{ text: 'one', language: 'en' }], { rank: 2 }, { lastChunk: true }),
    status('COMPLETED'),
  ],
  'a large picture': [
    begun,
    artifact(
      'picture',
      [{ raw: largeBytes, filename: 'a.png', mediaType: 'image/png' }],
      {},
      { lastChunk: true },
    ),
    status('COMPLETED'),
  ],
  'a part of a later version': [
    begun,
    artifact('film', [{ text: 'Look' }, { film: 'reel', mediaType: 'video/mp4' }], {}, { lastChunk: true }),
    status('COMPLETED'),
  ],
  'a chunk that hides characters': [
    begun,
    artifact('a', [{ text: 'pay \u202Eyalp\u202C' }]),
    artifact('a', [{ text: ' now' }], {}, { append: true, lastChunk: true }),
    status('COMPLETED'),
  ],
  'a last chunk without parts': [
    begun,
    artifact('a', [{ text: 'one' }]),
    { artifactUpdate: { ...ids, artifact: { artifactId: 'a', parts: [] }, append: true, lastChunk: true } },
    { statusUpdate: { ...ids, status: { state: 'TASK_STATE_WORKING' }, metadata: { progress: 0.9 } } },
    status('COMPLETED'),
  ],
  'a question': [
    begun,
    status('INPUT_REQUIRED', agentMessage([{ text: 'Which day?' }, { data: { choices: ['Fri'] } }])),
  ],
  'a question of a plan': [
    { task: { ...begun.task, metadata: { plan: 'gold', step: 1 } } },
    status('INPUT_REQUIRED', agentMessage([{ text: 'Which day?' }]), { metadata: { step: 2 } }),
  ],
  'a sign-in': [begun, status('AUTH_REQUIRED', agentMessage([{ text: 'Sign in at example.com' }]))],
  'a rejection': [begun, status('REJECTED', agentMessage([{ text: 'Not on Sundays' }]))],
  'a failure': [begun, status('FAILED', agentMessage([{ text: 'It broke' }, { data: { why: 'rain' } }]))],
}

/** What the agent answers to the answer of its question. */
const booked = [status('COMPLETED', agentMessage([{ text: 'Booked' }]), { metadata: { price: 9 } })]

/** How the agent refuses a message. */
const refusals: Readonly<Record<string, { readonly code: number; readonly message: string }>> = {
  'an unknown task': { code: -32001, message: 'I forgot that task.' },
  'an unsupported operation': { code: -32004, message: 'Not with me.' },
  'a wrong type of content': { code: -32005, message: 'I read no films.' },
  'a missing extension': { code: -32008, message: 'Request urn:example:pay.' },
}

/** The task of the broken stream, as the agent tells it later. */
const laterTask = {
  id: 't-1',
  contextId: 'c-1',
  status: { state: 'TASK_STATE_COMPLETED' },
  artifacts: [{ artifactId: 'late', name: 'Late', parts: [{ text: 'Here it is' }] }],
}

let agent: TestServer
let gateway: TestGateway
let token: string
const received: Loose[] = []
const cancelled: string[] = []

beforeAll(async () => {
  agent = await serveRpcAgent(card, ({ method, params, headers, ...call }) => {
    if (method === 'CancelTask') cancelled.push(params.id)
    if (method === 'GetTask' || method === 'CancelTask') return call.result(laterTask)
    if (method === 'SubscribeToTask') return call.error({ code: -32004, message: 'No subscriptions.' })
    received.push({ ...params, extensions: headers['a2a-extensions'] })
    const first = params.message.parts[0]?.text
    const refusal = Object.hasOwn(refusals, first) ? refusals[first] : undefined
    if (refusal) return call.error(refusal)
    const stream = call.stream()
    if (first === 'a broken stream') {
      stream.write(begun)
      return void setImmediate(stream.cut)
    }
    const events = first === 'Saturday' ? booked : (answers[first] ?? answers['a message'] ?? [])
    for (const event of events) stream.write(event)
    stream.end()
  })
  gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: agent.origin })
  token = await gateway.token('ada')
  await list(gateway, { package_name: to, manifest_url: `${agent.origin}/card.json` })
  await gateway.gateway.verification.checker.run(new AbortController().signal)
})

afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]()
  await agent?.[Symbol.asyncDispose]()
})

const card = {
  name: 'Traveller',
  description: 'Travels.',
  capabilities: { streaming: true, extensions: [{ uri: 'urn:example:x', params: { pays: true } }] },
  defaultInputModes: ['text/plain', 'image/png'],
  skills: [
    { id: 'go', name: 'Go somewhere', description: 'Goes.', tags: ['travel'], examples: ['To Oslo'] },
    { id: 'paint', name: 'Paint', description: 'Paints.', tags: ['art'], outputModes: ['image/png'] },
  ],
}

const words = (text: string, more: object = {}) => ({
  message: { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text }], ...more },
})

async function post(
  url: string,
  method: string,
  params: object,
  as = token,
  headers = {},
): Promise<Response> {
  return await fetch(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'A2A-Version': '1.0',
      Authorization: `Bearer ${as}`,
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
}

async function stream(url: string, params: object): Promise<Loose[]> {
  const events: Loose[] = []
  for await (const event of eventsOf(await post(url, 'SendStreamingMessage', params))) events.push(event)
  return events
}

const through = () => `${gateway.url}/a2a/v1`
const send = async (params: object, as = token) =>
  ((await (await post(through(), 'SendMessage', { tenant: to, ...params }, as)).json()) as Loose).result

/**
 * Without the fields that the gateway replaces (docs/calling-through.md): ids of task and context, time of a state, mark of
 * third-party content. Flags of false and empty fields are absent in ProtoJSON.
 */
function plain(value: Loose): Loose {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  const replaced = new Set(['taskId', 'contextId', 'timestamp', 'content_trust', 'content_flags'])
  const fields = Object.entries(value)
    .filter(([key, field]) => !replaced.has(key) && field !== false)
    .map(([key, field]): [string, Loose] => [key, plain(field)])
    .filter(([key, field]) => key !== 'metadata' || Object.keys(field).length > 0)
    .filter(([key, field]) => key !== 'artifacts' || field.length > 0)
  return Object.fromEntries(fields)
}

function withoutTask(event: Loose): Loose {
  const { id: _, history: __, ...task } = event.task ?? {}
  return event.task ? { task } : event
}

describe('what an agent of A2A says', () => {
  test.each(Object.keys(answers))('arrives as it was sent: %s', async (name) => {
    const direct = await stream(`${agent.origin}/rpc`, words(name))
    const forwarded = await stream(through(), { tenant: to, ...words(name) })
    expect(forwarded.map(plain).map(withoutTask)).toEqual(direct.map(plain).map(withoutTask))
  })

  test('arrives without a stream too, with its artifacts whole', async () => {
    const { task } = await send(words('chunks of text'))
    const parts = ['chunk0 ', 'chunk1 ', 'chunk2'].map((text) => ({ text }))
    expect(plain(task)).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED', message: { parts: [{ text: 'Done' }] } },
      artifacts: [{ artifactId: 'reply', name: 'Reply', description: 'Words.', metadata: { n: 1 }, parts }],
    })
    expect((await send(words('a message'))).message.parts).toEqual([{ text: 'Hi', mediaType: 'text/plain' }])
  })

  test('arrives when the stream of a task breaks: the task is asked for', async () => {
    const forwarded = await stream(through(), { tenant: to, ...words('a broken stream') })
    expect(forwarded.at(-2).artifactUpdate.artifact).toMatchObject({
      name: 'Late',
      parts: [{ text: 'Here it is' }],
    })
    expect(forwarded.at(-1).statusUpdate.status.state).toBe('TASK_STATE_COMPLETED')
  })

  test.each(Object.keys(refusals))('arrives as its own error: %s', async (name) => {
    const { error } = (await (
      await post(through(), 'SendMessage', { tenant: to, ...words(name) })
    ).json()) as Loose
    const { code, message } = refusals[name] as Loose
    expect(error).toMatchObject({ code, message: `The agent says: ${message}` })
    expect(error.data[0]).toMatchObject({
      domain: 'a2a-protocol.org',
      metadata: { code: expect.any(String) },
    })
  })

  test('is remembered in the task: the question with its answer, and the metadata', async () => {
    const waiting = (await send(words('a question of a plan'))).task
    expect(waiting).toMatchObject({ metadata: { plan: 'gold', step: 2 } })
    const answered = (await send(words('Saturday', { taskId: waiting.id }))).task
    const { result } = (await (await post(through(), 'GetTask', { id: waiting.id })).json()) as Loose
    for (const task of [answered, result]) {
      expect(task.history.map(({ parts }: Loose) => parts[0].text)).toEqual([
        'a question of a plan',
        'Which day?',
        'Saturday',
      ])
      expect(task.metadata).toEqual({ plan: 'gold', step: 2, price: 9 })
      expect(task.status.message.parts).toEqual([{ text: 'Booked' }])
    }
  })

  test('is marked as the words of a third party', async () => {
    expect((await send(words('a message'))).message.metadata).toMatchObject({
      mood: 'good',
      content_trust: 'untrusted',
    })
    const { artifacts } = (await send(words('a chunk that hides characters'))).task
    expect(artifacts[0].metadata).toEqual({
      content_trust: 'untrusted',
      content_flags: ['hidden_characters'],
    })
  })

  test('is JSON for other callers: chunks are one text, and nothing is lost or said twice', async () => {
    const call = async (text: string) => {
      const body = { to, action: 'send_message', params: { text } }
      return (await gateway.request('POST', '/a2a/message', { body, token })).json
    }
    expect(await call('chunks of text')).toEqual({ text: 'chunk0 chunk1 chunk2' })
    expect(await call('a question')).toMatchObject({
      status: 'input_required',
      question: { text: 'com.example.traveller asks: Which day?', data: { choices: ['Fri'] } },
    })
    expect(await call('a sign-in')).toMatchObject({ status: 'auth_required' })
    expect(await call('text beside data')).toEqual({ text: 'Two\nafter', data: { n: 2 } })
    expect(await call('a rejection')).toMatchObject({
      detail: 'The agent says: Not on Sundays',
      retryable: false,
    })
    expect(await call('files')).toEqual({
      parts: [
        { media_type: 'image/png', filename: 'a.png', base64: bytes },
        { media_type: 'application/pdf', filename: 'b.pdf', url: 'https://example.com/b.pdf' },
      ],
    })
    expect(await call('a large picture')).toEqual({
      parts: [{ media_type: 'image/png', filename: 'a.png', bytes: 600 * 1024 }],
    })
    expect(await call('a part of a later version')).toEqual({
      parts: [{ text: 'Look' }, { media_type: 'video/mp4', film: 'reel' }],
    })
  })
})

test('its card through the gateway states its modes, examples and extensions', async () => {
  const answer = await gateway.request('GET', `/a2a/v1/${to}/.well-known/agent-card.json`)
  expect(answer.json).toMatchObject({
    defaultInputModes: ['text/plain', 'image/png'],
    defaultOutputModes: ['text/plain'],
    skills: [
      { id: 'go', tags: ['travel'], examples: ['To Oslo'], outputModes: ['text/plain'] },
      { id: 'paint', tags: ['art'], inputModes: ['text/plain', 'image/png'], outputModes: ['image/png'] },
    ],
  })
  const uris = answer.json.capabilities.extensions.map(({ uri }: { uri: string }) => uri)
  expect(uris).toEqual(['urn:dragoman:registry:1', 'urn:example:x'])
})

describe('what a caller of A2A says', () => {
  test('reaches the agent as it was sent', async () => {
    const message = {
      messageId: 'm-77',
      role: 'ROLE_USER',
      parts: [
        { text: 'first', mediaType: 'text/markdown' },
        { data: [1, { two: 2 }], mediaType: 'application/json' },
        { raw: bytes, filename: 'a.png', mediaType: 'image/png' },
        { text: 'second', metadata: { lang: 'en' }, weight: 2 },
      ],
      metadata: { trace: 'abc' },
      extensions: ['urn:example:x'],
      priority: 'high',
    }
    const params = {
      tenant: to,
      message,
      metadata: { budget: 7 },
      configuration: { acceptedOutputModes: ['text/plain'] },
    }
    await post(through(), 'SendMessage', params, token, { 'A2A-Extensions': 'urn:example:x' })
    const last = received.at(-1)
    expect(plain(last.message)).toEqual(message)
    expect(last.metadata).toEqual({ budget: 7 })
    expect(last.configuration.acceptedOutputModes).toEqual(['text/plain'])
    expect(last.extensions).toBe('urn:example:x')
  })

  test('reaches the agent from A2A 0.3 with its output modes and extensions', async () => {
    const message = { kind: 'message', messageId: 'm-3', role: 'user', parts: [{ kind: 'text', text: 'Hi' }] }
    const params = { message, configuration: { acceptedOutputModes: ['text/html'] } }
    const answer = await gateway.request('POST', `/a2a/v1?tenant=${to}`, {
      body: { jsonrpc: '2.0', id: 1, method: 'message/send', params },
      token,
      headers: { 'X-A2A-Extensions': 'urn:example:x, urn:dragoman:registry:1' },
    })
    expect(answer.json.result.kind).toBe('message')
    expect(answer.headers.get('x-a2a-extensions')).toBe('urn:dragoman:registry:1')
    const last = received.at(-1)
    expect(last.configuration.acceptedOutputModes).toEqual(['text/html'])
    expect(last.extensions).toBe('urn:example:x, urn:dragoman:registry:1')
  })

  test('reaches the agent with data of which one field is an action', async () => {
    const data = { action: 'book', city: 'Oslo' }
    await send({ message: { messageId: 'm-4', role: 'ROLE_USER', parts: [{ data }] } })
    expect(received.at(-1).message.parts).toEqual([{ data }])
  })

  test('names a skill by its id or its name', async () => {
    for (const skillId of ['go', 'Go somewhere']) {
      await send(words('a message', { metadata: { skillId } }))
      expect(received.at(-1).message.metadata.skillId).toBe('go')
    }
  })

  test('belongs to one conversation, which no other caller can enter', async () => {
    const eve = await gateway.token('eve')
    const sent = async (contextId: string, as = token) => {
      const answer = await send(words('a message', { contextId }), as)
      return [received.at(-1).message.contextId, answer.message.contextId]
    }
    const [first] = await sent('my-conversation')
    expect(first).toBeTruthy()
    expect((await sent('my-conversation'))[0]).toBe(first)
    expect((await sent('my-conversation', eve))[0]).not.toBe(first)
    expect((await sent('my.first'))[0]).not.toBe((await sent('my.second'))[0])

    // The agent began this conversation.
    const begun = await send(words('chunks of text'))
    const shown = begun.task.contextId
    expect(shown).not.toContain('c-1')
    expect((await sent(shown))[0]).toBe('c-1')
    expect((await sent(shown, eve))[0]).not.toBe('c-1')
  })

  test('names no task or context of anybody else to the agent', async () => {
    await send(
      words('a message', { referenceTaskIds: ['t-of-eve'], taskid: 't-of-eve', ContextID: 'c-of-eve' }),
    )
    expect(JSON.stringify(received.at(-1))).not.toContain('of-eve')
  })

  test('refers to earlier tasks of its own, by the ids of the agent', async () => {
    const { task } = await send(words('chunks of text'))
    const refer = async (as: string) => {
      await send(words('a message', { referenceTaskIds: [task.id, 't-of-eve'] }), as)
      return received.at(-1).message.referenceTaskIds
    }
    expect(await refer(token)).toEqual(['t-1'])
    expect(await refer(await gateway.token('eve'))).toBeUndefined()
  })

  test('cancels the task of an agent that waits for its caller, at the agent too', async () => {
    const { task } = await send(words('a question'))
    const answer = (await (await post(through(), 'CancelTask', { id: task.id })).json()) as Loose
    expect(answer.result.status.state).toBe('TASK_STATE_CANCELED')
    expect(cancelled).toEqual(['t-1'])
  })

  test('cancels a task by its envelope, which no other caller can', async () => {
    const call = async (action: string, params: object, as = token) =>
      (await gateway.request('POST', '/a2a/message', { body: { to, action, params }, token: as })).json
    const { task_id } = await call('send_message', { text: 'a question' })
    cancelled.length = 0
    const eve = await gateway.token('eve')
    expect(await call('cancel_task', { task_id }, eve)).toMatchObject({ code: 'not_found' })
    expect(cancelled).toEqual([])
    expect(await call('cancel_task', { task_id })).toEqual({ task_id, status: 'cancelled' })
    expect(cancelled).toEqual(['t-1'])
  })

  test('gives up a task by the answer that refuses the question of an MCP server', async () => {
    const call = async (action: string, params: object) =>
      (await gateway.request('POST', '/a2a/message', { body: { to, action, params }, token })).json
    const { task_id } = await call('send_message', { text: 'a question' })
    cancelled.length = 0
    const input = { action: 'cancel' }
    expect(await call('continue_task', { task_id, input })).toEqual({ task_id, status: 'cancelled' })
    expect(cancelled).toEqual(['t-1'])
  })

  test('continues the task of the agent', async () => {
    const { task } = await send(words('a question'))
    await send(words('Friday', { taskId: task.id }))
    expect(received.at(-1).message).toMatchObject({
      taskId: 't-1',
      contextId: 'c-1',
      parts: [{ text: 'Friday' }],
    })
  })
})
