import { afterAll, describe, expect, test } from 'vitest'
import { codes } from '../../schemas/failure.ts'
import { startGateway } from '../support/gateway.ts'
import { openSocket } from '../support/socket.ts'

const home = await startGateway()
afterAll(() => home[Symbol.asyncDispose]())

type Send = (text: string) => Promise<string>

/** The same texts go over HTTP and over a WebSocket, and the same texts must come back. */
const transports: Record<string, Send> = {
  HTTP: async (text) =>
    (await home.request('POST', '/rpc', { body: text, headers: { 'Content-Type': 'application/json' } }))
      .text,
  WebSocket: async (text) => {
    await using peer = await openSocket(`${home.url}/rpc`, [])
    const answered = new Promise<string>((resolve) =>
      peer.socket.once('message', (data) => resolve(data.toString())),
    )
    peer.socket.send(text)
    return await answered
  },
}

const request = (id: unknown, extra: object = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'registry.search_agents',
  params: { limit: 1 },
  ...extra,
})
const wiki = '{"to":"svc.registry","action":"get_card","params":{"agent":"svc.utility.wiki"}}'

describe.each(Object.entries(transports))('JSON-RPC 2.0 over %s', (_, send) => {
  test.each(['"a"', '""', '0', '7', '-1', '1.5', 'null', '"0"', '"é☃"'])(
    'the id %s comes back exactly',
    async (id) => {
      const answer = await send(`{"jsonrpc":"2.0","id":${id},"method":"message.send","params":${wiki}}`)
      expect(answer).toContain(`"id":${id}`)
      expect(JSON.parse(answer).result.agent_id).toBe('custom.svc.utility.wiki')
    },
  )

  test.each([
    ['not JSON', '{"jsonrpc":', -32700],
    ['nothing', '', -32700],
    ['null', 'null', -32600],
    ['text', '"ping"', -32600],
    ['an empty batch', '[]', -32600],
    ['a batch of 51', JSON.stringify(Array.from({ length: 51 }, (_, id) => request(id))), -32600],
    ['another version', JSON.stringify(request(null, { jsonrpc: '1.0' })), -32600],
    ['a method that is a number', JSON.stringify(request(null, { method: 1 })), -32600],
    ['an id that is an object', JSON.stringify(request({})), -32600],
  ])('%s is answered with id null and its number', async (_name, text, code) => {
    const answer = JSON.parse(await send(text))
    expect(answer).toMatchObject({
      jsonrpc: '2.0',
      id: null,
      error: { code, data: { code: 'invalid_request' } },
    })
    expect(answer).not.toHaveProperty('result')
  })

  test('the message of an error says which member is wrong', async () => {
    const answer = JSON.parse(await send(JSON.stringify(request(null, { method: 1 }))))
    expect(answer.error.message).toBe('Not a JSON-RPC 2.0 request. /method: This must be a string.')
  })

  test('an unknown method is -32601 and names its nearest', async () => {
    const { error, id } = JSON.parse(await send(JSON.stringify(request('m', { method: 'wiki.get_sumary' }))))
    expect(id).toBe('m')
    expect(error).toMatchObject({
      code: -32601,
      data: { code: 'unknown_action', nearest: ['wiki.get_summary'] },
    })
  })

  test.each(['constructor', '__proto__', 'toString'])('the method %s does not exist', async (method) => {
    expect(JSON.parse(await send(JSON.stringify(request(1, { method })))).error.code).toBe(-32601)
  })

  test('params by position and bad params are -32602, params that are no structure -32600', async () => {
    const codeOf = async (params: unknown) =>
      JSON.parse(await send(JSON.stringify(request(1, { params })))).error.code
    expect([await codeOf([1]), await codeOf('x'), await codeOf(5)]).toEqual([-32602, -32600, -32600])
    expect(JSON.parse(await send(JSON.stringify(request(1, { params: { limit: 0 } })))).error).toMatchObject({
      code: -32602,
      data: { errors: [{ pointer: '/limit' }] },
    })
  })

  test('a batch of one is a list, one of 50 keeps its order, bad members answer for themselves', async () => {
    const answer = JSON.parse(await send(JSON.stringify([request('only')])))
    expect(answer).toHaveLength(1)
    const fifty = JSON.parse(await send(JSON.stringify(Array.from({ length: 50 }, (_, id) => request(id)))))
    expect(fifty.map((answer: { id: number }) => answer.id)).toEqual(
      Array.from({ length: 50 }, (_, id) => id),
    )
    const mixed = JSON.parse(
      await send(
        JSON.stringify([request(1), 5, { jsonrpc: '2.0', method: 'registry.search_agents' }, request(2)]),
      ),
    )
    expect(mixed.map((answer: { id: unknown }) => answer.id)).toEqual([1, null, 2])
  })
})

describe('notifications', () => {
  test('over HTTP are answered 204 without a body', async () => {
    const { status, text } = await home.request('POST', '/rpc', {
      body: { jsonrpc: '2.0', method: 'registry.search_agents' },
    })
    expect([status, text]).toEqual([204, ''])
    const batch = await home.request('POST', '/rpc', { body: [{ jsonrpc: '2.0', method: 'nobody.knows' }] })
    expect(batch.status).toBe(204)
  })

  test('over a WebSocket are not answered', async () => {
    await using peer = await openSocket(`${home.url}/rpc`, [])
    const seen: unknown[] = []
    peer.socket.on('message', (data) => seen.push(JSON.parse(data.toString()).id))
    peer.send({ jsonrpc: '2.0', method: 'registry.search_agents' })
    peer.send(request('after'))
    await peer.answer('after')
    expect(seen).toEqual(['after'])
  })
})

test('a bad token over HTTP is 401 with a challenge and a JSON-RPC error', async () => {
  const { status, headers, json } = await home.request('POST', '/rpc', { token: 'bad', body: request(1) })
  expect(status).toBe(401)
  expect(headers.get('www-authenticate')).toContain('invalid_token')
  expect(json).toMatchObject({
    jsonrpc: '2.0',
    id: null,
    error: { code: -32001, data: { code: 'unauthenticated' } },
  })
})

test('no two failures have one number', () => {
  const numbers = Object.values(codes).map(({ rpc }) => rpc)
  expect(new Set(numbers).size).toBe(numbers.length)
})
