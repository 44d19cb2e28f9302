import { afterAll, describe, expect, test, vi } from 'vitest'
import type { Context } from '../../schemas/action.ts'
import { McpChannel } from '../../src/transports/mcp/channel.ts'
import { createMcpService } from '../../src/transports/mcp/service.ts'
import { localLimits } from '../../src/transports/shared/message.ts'
import { startGateway } from '../support/gateway.ts'
import { modernHeaders, modernRequest } from '../support/mcp.ts'
import { sampleAction, sampleAgent } from '../support/router.ts'
import { openSocket } from '../support/socket.ts'
import { transportOver } from '../support/transport-context.ts'

const home = await startGateway()
afterAll(() => home[Symbol.asyncDispose]())

const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`
const search = (extra: string) =>
  JSON.stringify(modernRequest(1, 'tools/call', { name: 'search_agents', arguments: { extra: 0 } })).replace(
    '"extra":0',
    extra,
  )

/** Frames that the SDK drops without a word, and the id that their answer has. */
const invalid: [string, unknown][] = [
  ['{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}', 1],
  ['{"jsonrpc":"2.0","id":"a","method":"tools/list","params":"none"}', 'a'],
  ['{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}', null],
  ['{"jsonrpc":"2.0","id":null,"method":"tools/list"}', null],
  ['{"jsonrpc":"2.0","id":{},"method":"tools/list"}', null],
  ['{"jsonrpc":"2.0","id":2,"method":7}', 2],
  ['{"jsonrpc":"2.0","id":3,"method":"tools/list","more":true}', 3],
  ['{"jsonrpc":"2.0","id":4,"method":"tools/list","params":{"_meta":5}}', 4],
  ['{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}', null],
  ['{"jsonrpc":"2.0","id":5,"result":5}', 5],
  ['{"jsonrpc":"2.0"}', null],
  ['{"jsonrpc":"1.0","id":6,"method":"tools/list"}', 6],
  ['[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]', null],
  ['[]', null],
  ['null', null],
  ['"ping"', null],
  [search(`"extra":${deep(500)}`), 1],
  [deep(1000), null],
]

describe('a frame that is no message of MCP', () => {
  test('is answered -32600, and however many they are, the socket goes on', async () => {
    await using peer = await openSocket(`${home.url}/mcp/ws`, ['mcp'])
    for (const [text, id] of invalid) {
      const answered = new Promise((resolve) =>
        peer.socket.once('message', (data) => resolve(JSON.parse(String(data)))),
      )
      peer.send(text)
      expect(await answered, text.slice(0, 100)).toMatchObject({
        jsonrpc: '2.0',
        id,
        error: { code: -32600, data: { code: 'invalid_request' } },
      })
    }
    peer.send(modernRequest('after', 'tools/list', {}))
    expect(await peer.answer('after')).toHaveProperty('result')
  })
})

describe('nesting', () => {
  const over: Record<string, (text: string) => Promise<{ error?: object; result?: object }>> = {
    WebSocket: async (text) => {
      await using peer = await openSocket(`${home.url}/mcp/ws`, ['mcp'])
      const answered = new Promise<string>((resolve) =>
        peer.socket.once('message', (data) => resolve(String(data))),
      )
      peer.send(text)
      return JSON.parse(await answered)
    },
    HTTP: async (text) => {
      const headers = {
        ...modernHeaders('tools/call', 'search_agents'),
        Accept: 'application/json, text/event-stream',
      }
      const answer = await fetch(`${home.url}/mcp`, { method: 'POST', headers, body: text })
      const body = await answer.text()
      const json = JSON.parse(body.replace(/^[^{]*data: ?/s, ''))
      expect(answer.status).toBe('error' in json ? 400 : 200)
      return json
    },
  }

  test.each(Object.entries(over))('over %s is refused before the SDK meets it', async (_, ask) => {
    for (const extra of [`"extra":${deep(9000)}`, '"__proto__":{"limit":1}']) {
      expect(await ask(search(extra))).toMatchObject({ error: { data: { code: 'invalid_request' } } })
    }
  })

  test.each(Object.entries(over))('over %s counts from the arguments of a tool', async (_, ask) => {
    // The tool itself refuses the field, by name: the message came through.
    const { result } = await ask(search(`"extra":${deep(30)}`))
    expect(JSON.stringify(result)).toContain('/extra')
  })
})

describe('the place of a request in flight', () => {
  /** A channel without a peer, over one action that the test ends. */
  function start() {
    const sent: { id?: unknown }[] = []
    const release = Promise.withResolvers<object>()
    const run = vi.fn((_: unknown, context: Context) => {
      signals.push(context.signal)
      return release.promise
    })
    const signals: AbortSignal[] = []
    const onError = () => {}
    const channel = new McpChannel({
      service: createMcpService(
        transportOver([sampleAgent('svc.box', [sampleAction('wait', { run })])]),
        '1',
        onError,
      ),
      caller: { client: 'local' as const, identify: () => null },
      messageLimits: localLimits,
      send: async (text) => void sent.push(JSON.parse(text)),
      onError,
    })
    /** Gives it a text; whether it still holds a place is seen once all that is ready has run. */
    const give = (text: string) => {
      const state = { held: true }
      void channel
        .prepare(text)
        .run()
        .then(() => {
          state.held = false
        })
      return state
    }
    return { channel, sent, run, signals, give, open: () => release.resolve({}) }
  }
  const ready = () => new Promise((resolve) => setImmediate(resolve))
  const request = JSON.stringify(modernRequest(1, 'tools/call', { name: 'box_wait' }))
  const cancel = (params: object) =>
    JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params })

  test('is waited for, however the id is spelt; only what asks for nothing passes', () => {
    const { channel } = start()
    expect(channel.prepare(request).urgent).toBe(false)
    expect(channel.prepare(request.replace('"id"', '"\\u0069d"')).urgent).toBe(false)
    expect(channel.prepare('{"jsonrpc":"2.0"}').urgent).toBe(false)
    expect(channel.prepare(cancel({ requestId: 1 })).urgent).toBe(true)
    expect(channel.prepare('{"jsonrpc":"2.0","id":1,"result":{}}').urgent).toBe(true)
  })

  test('is not released for another request of the same id', async () => {
    const { give, sent, run, open } = start()
    const first = give(request)
    const second = give(request)
    await ready()
    expect([first.held, second.held]).toEqual([true, false])
    expect(sent).toMatchObject([{ id: 1, error: { code: -32600 } }])
    expect(run).toHaveBeenCalledTimes(1)
    open()
    await ready()
    expect(first.held).toBe(false)
    give(request)
    await ready()
    expect(run).toHaveBeenCalledTimes(2)
  })

  test('is given to sixteen subscriptions at most, none of which holds up requests', async () => {
    const { give, sent } = start()
    const subscribe = (id: number) =>
      give(JSON.stringify(modernRequest(id, 'subscriptions/listen', { notifications: {} })))
    const held = Array.from({ length: 16 }, (_, id) => subscribe(id))
    await ready()
    expect(held.some((state) => state.held)).toBe(false)
    subscribe(16)
    await ready()
    expect(sent.at(-1)).toMatchObject({ id: 16, error: { code: -32600 } })
    give(cancel({ requestId: 3 }))
    await ready()
    subscribe(17)
    await ready()
    expect(sent.at(-1)).toMatchObject({ method: 'notifications/subscriptions/acknowledged' })
  })

  test('is released by a cancellation, which aborts the action, but not by a malformed one', async () => {
    const { give, sent, signals, open } = start()
    const first = give(request)
    give(cancel({ requestId: 1, reason: 7 }))
    await ready()
    expect([first.held, signals[0]?.aborted]).toEqual([true, false])
    give(cancel({ requestId: 1 }))
    await ready()
    expect([first.held, signals[0]?.aborted]).toEqual([false, true])
    open()
    await ready()
    expect(sent).toEqual([])
  })

  test('ends with the connection', async () => {
    const { give, signals, channel } = start()
    const first = give(request)
    await ready()
    channel.closed()
    await ready()
    expect([first.held, signals[0]?.aborted]).toEqual([false, true])
  })

  test('of a subscription is released when it is acknowledged', async () => {
    await using peer = await openSocket(`${home.url}/mcp/ws`, ['mcp'])
    for (let id = 1; id <= 20; id++)
      peer.send(modernRequest(id, 'subscriptions/listen', { notifications: { toolsListChanged: true } }))
    peer.send(modernRequest('after', 'tools/list', {}))
    expect(await peer.answer('after')).toHaveProperty('result')
  })
})
