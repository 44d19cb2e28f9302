import { afterAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { defineAction } from '../../schemas/action.ts'
import { input, output } from '../../schemas/shape.ts'
import { envelopeSocket } from '../../src/transports/envelope/socket.ts'
import { guideOf } from '../support/documents.ts'
import { startGateway } from '../support/gateway.ts'
import { openSocket } from '../support/socket.ts'
import { transportOver } from '../support/transport-context.ts'
import { listenForSockets } from '../support/upgrades.ts'

const home = await startGateway()
afterAll(() => home[Symbol.asyncDispose]())

const search = { to: 'custom.svc.registry', action: 'search', params: { query: 'wiki', limit: 1 } }
const unknownAgent = { to: 'com.example.nobody', action: 'search' }
const names = { message_id: 'm-1', reply_to: 'com.example.asker' }

describe('the names that a sender gives', () => {
  test('come back over HTTP beside the output', async () => {
    const plain = await home.request('POST', '/a2a/message', { body: search })
    const named = await home.request('POST', '/a2a/message', { body: { ...search, ...names } })
    expect(named.json).toEqual(plain.json)
    expect(named.headers.get('x-message-id')).toBe('m-1')
    expect(named.headers.get('x-reply-to')).toBe('com.example.asker')
    expect(plain.headers.has('x-message-id')).toBe(false)
  })

  test('come back over HTTP with a failure', async () => {
    const { status, headers } = await home.request('POST', '/a2a/message', {
      body: { ...unknownAgent, ...names },
    })
    expect([status, headers.get('x-message-id')]).toEqual([404, 'm-1'])
  })

  test('come back over WebSocket, whether it goes well or not', async () => {
    await using peer = await openSocket(`${home.url}/a2a/message`, ['envelope'])
    const frames: Record<string, unknown>[] = []
    const two = new Promise<void>((resolve) => {
      peer.socket.on('message', (data) => {
        if (frames.push(JSON.parse(data.toString())) === 2) resolve()
      })
    })
    peer.send({ ...search, ...names })
    peer.send({ ...unknownAgent, message_id: 'm-2' })
    await two
    const [good, bad] = ['m-1', 'm-2'].map((id) => frames.find(({ message_id }) => message_id === id))
    expect(good).toMatchObject({ ...names, output: { agents: [{ package_name: 'svc.utility.wiki' }] } })
    expect(bad).toMatchObject({ message_id: 'm-2', error: { code: 'not_found' } })
    expect(bad).not.toHaveProperty('reply_to')
  })

  test('are taken by message.send, whose result stays the output', async () => {
    const body = { jsonrpc: '2.0', id: 7, method: 'message.send', params: { ...search, ...names } }
    const { json } = await home.request('POST', '/rpc', { body })
    const plain = await home.request('POST', '/a2a/message', { body: search })
    expect(json).toEqual({ jsonrpc: '2.0', id: 7, result: plain.json })
  })

  test.each([
    ['a line break', 'a\r\nSet-Cookie: b=c'],
    ['a space', 'a b'],
    ['nothing', ''],
    ['129 characters', 'x'.repeat(129)],
    ['what is not ASCII', 'é'],
    ['a number', 1],
    ['null', null],
  ])('are refused with %s in them, and not repeated', async (_, message_id) => {
    const { status, json, headers } = await home.request('POST', '/a2a/message', {
      body: { ...search, message_id, reply_to: 'r' },
    })
    expect([status, json.code, json.errors[0].pointer]).toEqual([400, 'invalid_request', '/message_id'])
    expect([headers.has('x-message-id'), headers.get('x-reply-to')]).toEqual([false, 'r'])
  })
})

describe('the envelope over WebSocket', () => {
  test.each(['{', '[]', '"text"', 'null', '[{"to":"a","action":"b"}]'])(
    'refuses the frame %s',
    async (text) => {
      await using peer = await openSocket(`${home.url}/a2a/message`, [])
      peer.send(text)
      expect(await peer.answer(undefined)).toMatchObject({ error: { code: 'invalid_request' } })
    },
  )

  test('sends progress if the message has an id', async () => {
    const count = defineAction({
      name: 'count',
      title: 'Count',
      description: 'Counts to two.',
      input: input(z.strictObject({})),
      output: output(z.object({ counted: z.number() })),
      access: 'public',
      effect: 'read',
      advertised: true,
      async run(_input, { emit }) {
        await emit({ progress: 1, total: 2, message: 'one' })
        await emit({ progress: 2, total: 2 })
        return { counted: 2 }
      },
    })
    const agent = {
      package_name: 'test.counter',
      name: 'Counter',
      description: 'C',
      tags: [],
      actions: [count],
    }
    const context = envelopeSocket(transportOver([agent]), new AbortController().signal)
    await using upgrades = await listenForSockets(() => ({ run: async () => {} }), { sockets: [context] })
    await using peer = await openSocket(`http://127.0.0.1:${upgrades.port}/a2a/message`, ['envelope'])
    const frames: unknown[] = []
    const done = new Promise<void>((resolve) => {
      peer.socket.on('message', (data) => {
        if (frames.push(JSON.parse(data.toString())) === 4) resolve()
      })
    })
    peer.send({ to: 'test.counter', action: 'count', message_id: '1' })
    peer.send({ to: 'test.counter', action: 'count' })
    await done
    expect(frames.filter((frame) => (frame as { message_id?: string }).message_id === '1')).toEqual([
      { message_id: '1', update: { progress: 1, total: 2, message: 'one' } },
      { message_id: '1', update: { progress: 2, total: 2 } },
      { message_id: '1', output: { counted: 2 } },
    ])
    expect(frames).toContainEqual({ output: { counted: 2 } })
  })
})

describe('GET /schemas/envelope.json', () => {
  const page = guideOf('envelope.md')

  test('is the schema of accepted envelopes', async () => {
    const { json, headers } = await home.request('GET', '/schemas/envelope.json')
    expect(headers.get('content-type')).toBe('application/schema+json')
    expect(json.$id).toBe(`${home.url}/schemas/envelope.json`)
    const { $defs: _, ...schema } = json
    const envelope = z.fromJSONSchema(schema)
    const [, example = ''] = /-d '(\{.*\})'/.exec(page) ?? []
    for (const valid of [search, { ...search, ...names }, unknownAgent, JSON.parse(example)]) {
      expect(envelope.safeParse(valid).success).toBe(true)
    }
    for (const invalid of [{}, { to: 'a' }, { ...search, more: 1 }, { ...search, message_id: 'a b' }]) {
      expect(envelope.safeParse(invalid).success).toBe(false)
    }
  })

  test('describes the frames that come back, as the page shows them', async () => {
    const { json } = await home.request('GET', '/schemas/envelope.json')
    const answer = z.fromJSONSchema({ $ref: '#/$defs/Answer', $defs: json.$defs })
    const shown = [...page.matchAll(/```json\n(.*)\n```/g)].map(([, text = '']) => JSON.parse(text))
    expect(shown).toHaveLength(2)
    for (const frame of shown) expect(answer.safeParse(frame).success).toBe(true)
    await using peer = await openSocket(`${home.url}/a2a/message`, [])
    peer.send(search)
    const frame = await peer.answer(undefined)
    expect(answer.safeParse(frame).success).toBe(true)
    expect(answer.safeParse({ ...frame, error: {} }).success).toBe(false)
    expect(answer.safeParse({ message_id: 'a' }).success).toBe(false)
  })
})
