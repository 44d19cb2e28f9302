import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { a2aVersion, dataMessage } from '../support/a2a.ts'
import { eventsOf, take } from '../support/events.ts'
import { startGateway } from '../support/gateway.ts'
import { startRevision } from '../support/hosted.ts'
import { list } from '../support/listed.ts'
import { modernHeaders, modernRequest } from '../support/mcp.ts'

const home = await startGateway()
afterAll(() => home[Symbol.asyncDispose]())

const events = { Accept: 'text/event-stream' }
const revision = async () => (await home.request('GET', '/public/changes?limit=1')).json.revision as number
const listed = async () => {
  const package_name = `com.example.${randomUUID()}`
  await list(home, { package_name, endpoints: [{ protocol: 'a2a', url: 'https://example.com/' }] })
  return package_name
}

/** Frames of a WebSocket as they come. */
async function* framesOf(socket: WebSocket) {
  for await (const [data] of socketEvents(socket)) yield JSON.parse(String(data))
}

async function* socketEvents(socket: WebSocket): AsyncGenerator<[unknown]> {
  const waiting: [unknown][] = []
  let wake = () => {}
  socket.on('message', (data) => {
    waiting.push([data])
    wake()
  })
  for (;;) {
    const next = waiting.shift()
    if (next) yield next
    else await new Promise<void>((resolve) => (wake = resolve))
  }
}

async function opened(path: string, protocol: string, message: object, url = home.url) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, [protocol])
  const frames = framesOf(socket)
  const first = frames.next()
  await once(socket, 'open')
  socket.send(JSON.stringify(message))
  return {
    first,
    next: async () => (await frames.next()).value,
    socket,
    [Symbol.asyncDispose]: async () => socket.terminate(),
  }
}

describe('the change feed', () => {
  test('over server-sent events sends each change as it comes, and continues after Last-Event-ID', async () => {
    const since = await revision()
    const stop = new AbortController()
    const answer = await fetch(`${home.url}/public/changes?since=${since}`, {
      headers: events,
      signal: stop.signal,
    })
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    const received = eventsOf(answer)
    expect(await take(received, 2)).toMatchObject([
      { event: 'progress', data: { progress: since } },
      { event: 'progress', data: { progress: since } },
    ])
    const name = await listed()
    const [part] = await take(received, 1)
    expect(part).toMatchObject({ event: 'part', data: { kind: 'listed', package_name: name } })
    expect(part?.id).toBe(String(part?.data.revision))
    stop.abort()
    const missed = await listed()
    const again = await fetch(`${home.url}/public/changes`, {
      headers: { ...events, 'Last-Event-ID': String(part?.id) },
    })
    const rest = eventsOf(again)
    expect((await take(rest, 2))[1]).toMatchObject({ event: 'part', data: { package_name: missed } })
    await again.body?.cancel().catch(() => {})
  })

  test('begins with the time after which to ask again', async () => {
    const answer = await fetch(`${home.url}/public/changes`, { headers: events })
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
    expect((await reader?.read())?.value).toMatch(/^retry: \d+\n\n/)
    await reader?.cancel()
  })

  test.each([
    ['that is still to come', '999999'],
    ['that is none', 'yesterday'],
    ['that is negative', '-1'],
  ])('refuses a Last-Event-ID %s before the stream begins', async (_, id) => {
    const headers = { ...events, 'Last-Event-ID': id }
    const { status, json } = await home.request('GET', '/public/changes', { headers })
    expect([status, json.code, json.errors[0].pointer]).toEqual([400, 'invalid_request', '/since'])
  })

  test('over the WebSocket of JSON-RPC sends notifications, and answers other calls between them', async () => {
    const since = await revision()
    const params = { since }
    const call = { jsonrpc: '2.0', id: 'feed', method: 'registry.watch_changes', params }
    await using peer = await opened('/rpc', 'jsonrpc', call)
    const following = { jsonrpc: '2.0', method: 'update', params: { id: 'feed', progress: since } }
    expect((await peer.first).value).toMatchObject(following)
    expect(await peer.next()).toMatchObject(following)
    const name = await listed()
    expect(await peer.next()).toMatchObject({
      method: 'update',
      params: { id: 'feed', part: { kind: 'listed', package_name: name } },
    })
    peer.socket.send(JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'registry.get_card', params: {} }))
    expect(await peer.next()).toMatchObject({ id: 2, result: {} })
  })

  test('over the WebSocket of JSON-RPC ends when it is cancelled, and the socket goes on', async () => {
    const call = (id: number) => ({ jsonrpc: '2.0', id, method: 'registry.watch_changes', params: {} })
    const cancel = (id: unknown) => ({ jsonrpc: '2.0', method: 'rpc.cancel', params: { id } })
    // One gateway of its own: followers of other tests, of the same address, may not have gone yet.
    await using own = await startGateway()
    await using peer = await opened('/rpc', 'jsonrpc', call(1), own.url)
    await peer.first
    const answerTo = async (id: number) => {
      for (;;) {
        const frame = (await peer.next()) as { id?: number }
        if (frame.id === id) return frame
      }
    }
    const send = (frame: object) => peer.socket.send(JSON.stringify(frame))
    send(cancel(1))
    expect(await answerTo(1)).toMatchObject({ error: { code: -32036, data: { code: 'cancelled' } } })
    // Sixteen at once is the most: a cancellation passes what waits behind them, and is heard for that too.
    const ids = Array.from({ length: 20 }, (_, at) => 10 + at)
    for (const id of ids) send(call(id))
    for (const id of ids.toReversed()) send(cancel(id))
    const ended = new Map<number, string | undefined>()
    while (ended.size < ids.length) {
      const { id, error } = (await peer.next()) as { id?: number; error?: { data: { code: string } } }
      if (id !== undefined) ended.set(id, error?.data.code)
    }
    expect([...ended.keys()].toSorted()).toEqual(ids)
    expect(ids.slice(16).map((id) => ended.get(id))).toEqual(Array(4).fill('cancelled'))
    send({ ...cancel('none'), id: 'asked' })
    expect(await answerTo('asked' as never)).toMatchObject({ result: { cancelled: false } })
    send({ jsonrpc: '2.0', id: 2, method: 'registry.get_card', params: {} })
    expect(await answerTo(2)).toMatchObject({ id: 2, result: {} })
  })

  test.each([
    [{}, '/id: This field is required.'],
    [{ request_id: 1 }, '/id: This field is required.'],
    [{ id: { of: 1 } }, '/id: Give the id of the request to cancel.'],
    [{ id: 1, reason: 'bored' }, '/reason: There is no such field.'],
  ])('a cancellation with the params %j is refused as invalid', async (params, message) => {
    await using peer = await opened('/rpc', 'jsonrpc', {
      jsonrpc: '2.0',
      id: 5,
      method: 'rpc.cancel',
      params,
    })
    expect((await peer.first).value).toMatchObject({
      id: 5,
      error: { code: -32602, message, data: { code: 'invalid_request' } },
    })
  })

  test('is a page in a batch, without an id, and where parts cannot be sent', async () => {
    const params = { since: 0, limit: 1 }
    const call = { jsonrpc: '2.0', id: 1, method: 'registry.watch_changes', params }
    await using peer = await opened('/rpc', 'jsonrpc', [call])
    expect((await peer.first).value).toMatchObject([{ id: 1, result: { next_since: 1 } }])
    const arguments_ = { package_name: 'svc.registry', action: 'watch_changes', params }
    const tool = modernRequest(1, 'tools/call', { name: 'call_agent', arguments: arguments_ })
    const request = tool as { params: { _meta: object } }
    Object.assign(request.params._meta, { progressToken: 1 })
    const answer = await fetch(`${home.url}/mcp`, {
      method: 'POST',
      headers: modernHeaders('tools/call', 'call_agent'),
      body: JSON.stringify(request),
    })
    expect(await answer.text()).toContain('next_since')
  })

  test('over the WebSocket of envelopes sends updates to callers that named the message', async () => {
    const since = await revision()
    const envelope = { to: 'svc.registry', action: 'watch_changes', params: { since }, message_id: 'm' }
    await using peer = await opened('/a2a/message', 'envelope', envelope)
    expect((await peer.first).value).toMatchObject({ message_id: 'm', update: { progress: since } })
    await peer.next()
    const name = await listed()
    expect(await peer.next()).toMatchObject({ message_id: 'm', update: { part: { package_name: name } } })
  })

  test('over A2A is a page, as a task stores all updates', async () => {
    const body = {
      jsonrpc: '2.0',
      id: 1,
      method: 'SendStreamingMessage',
      params: dataMessage({ to: 'svc.registry', action: 'watch_changes', params: { limit: 1 } }),
    }
    const { text } = await home.request('POST', '/a2a/v1', { headers: a2aVersion, body })
    expect(text).toContain('"next_since":1')
    expect(text).toContain('TASK_STATE_COMPLETED')
  })

  test('limits the streams of a caller without a token, and allows another once one has ended', async () => {
    await using small = await startGateway({}, { changes: { followers: { address: 2 } } })
    const open = async () => {
      const stop = new AbortController()
      const answer = await fetch(`${small.url}/public/changes`, { headers: events, signal: stop.signal })
      return { answer, stop }
    }
    const [first] = [await open(), await open()]
    const refused = await small.request('GET', '/public/changes', { headers: events })
    expect([refused.status, refused.json.code]).toEqual([429, 'rate_limited'])
    expect(refused.headers.get('retry-after')).toBe('5')
    expect((await small.request('GET', '/public/changes')).status).toBe(200)
    first?.stop.abort()
    await expect.poll(async () => (await open()).answer.status).toBe(200)
  })

  test('uses no resources once a follower has disconnected in the middle of an event', async () => {
    await using small = await startGateway({}, { changes: { followers: { address: 1 } } })
    const peer = connect(Number(new URL(small.url).port), '127.0.0.1')
    peer.write('GET /public/changes HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n')
    await once(peer, 'data')
    peer.resetAndDestroy()
    const status = async () => {
      const stop = new AbortController()
      const answer = await fetch(`${small.url}/public/changes`, { headers: events, signal: stop.signal })
      stop.abort()
      return answer.status
    }
    await expect.poll(status).toBe(200)
  })

  test('ends with a reason when the gateway stops, at every transport that streams', async () => {
    const other = await startGateway()
    const answer = await fetch(`${other.url}/public/changes?since=${startRevision}`, { headers: events })
    const received = eventsOf(answer)
    await take(received, 2)
    const call = { jsonrpc: '2.0', id: 1, method: 'registry.watch_changes', params: { since: startRevision } }
    await using peer = await opened('/rpc', 'jsonrpc', call, other.url)
    await peer.first
    await peer.next()
    const stopped = other[Symbol.asyncDispose]()
    expect(await take(received, 2)).toMatchObject([{ event: 'error', data: { code: 'unavailable' } }])
    expect(await peer.next()).toMatchObject({ id: 1, error: { data: { code: 'unavailable' } } })
    await stopped
  })
})
