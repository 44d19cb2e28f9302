import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type EventStreamOptions, openEvents } from '../../src/transports/http/events.ts'
import { serve } from '../net/support.ts'
import { eventsOf, take } from '../support/events.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { modernHeaders, modernRequest } from '../support/mcp.ts'
import { html, replay } from '../support/replay.ts'

/** A server whose one answer is a stream of events. */
function served(work: (response: ServerResponse) => Promise<void>) {
  return serve((_, response) => void work(response))
}

describe('a stream of server-sent events', () => {
  test('names its events, and ends with a last word', async () => {
    await using server = await served(async (response) => {
      const stream = openEvents(response, { headers: { 'X-Request-Id': 'mine' } })
      await stream.write({ event: 'part', id: '1', data: '{}' })
      stream.end({ data: '[]' })
      await stream.write({ data: 'too late' })
      stream.end({ data: 'too late' })
    })
    const answer = await fetch(`http://127.0.0.1:${server.port}`)
    expect(answer.headers.get('content-type')).toBe('text/event-stream')
    expect(answer.headers.get('cache-control')).toContain('no-store')
    expect(answer.headers.get('x-request-id')).toBe('mine')
    expect(await answer.text()).toBe('event: part\nid: 1\ndata: {}\n\ndata: []\n\n')
  })

  test('waits for a caller who does not read, buffers only the written data, and finally disconnects', async () => {
    const cut = Promise.withResolvers<{ waited: number }>()
    const style: EventStreamOptions = { keep_alive_ms: 1, stall_ms: 50 }
    const big = 'x'.repeat(1024 * 1024)
    await using server = await served(async (response) => {
      const stream = openEvents(response, style)
      let waited = 0
      while (!response.destroyed) {
        await stream.write({ data: big })
        waited += 1
      }
      cut.resolve({ waited })
    })
    const peer = connect(server.port, '127.0.0.1')
    await once(peer, 'connect')
    peer.on('error', () => {})
    peer.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    peer.pause()
    // The system's own buffers take some; a writer that did not wait would never come to an end.
    expect((await cut.promise).waited).toBeLessThan(32)
    peer.destroy()
  })

  test('goes on once the caller takes it', async () => {
    const big = 'x'.repeat(3 * 1024 * 1024)
    await using server = await served(async (response) => {
      const stream = openEvents(response)
      for (let count = 0; count < 3; count++) await stream.write({ data: JSON.stringify(big) })
      stream.end()
    })
    const events = await take(eventsOf(await fetch(`http://127.0.0.1:${server.port}`)), 9)
    expect(events.map(({ data }) => data.length)).toEqual([big.length, big.length, big.length])
  })
})

/** Whether the port accepts connections. A stopping gateway accepts none once it ends its endless streams. */
function isListening(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const peer = connect(Number(new URL(url).port), '127.0.0.1')
    peer.once('connect', () => resolve(true)).once('error', () => resolve(false))
    peer.unref()
    peer.once('connect', () => peer.destroy())
  })
}

describe('a row that streams', () => {
  let home: TestGateway
  beforeAll(async () => {
    home = await startGateway()
  })
  afterAll(() => home[Symbol.asyncDispose]())

  const events = { Accept: 'text/event-stream' }
  const price = (headers: Record<string, string>, token?: string) =>
    home.request('POST', '/a2a/utility/finance', {
      headers,
      body: { input: { symbol: '..' } },
      token,
    })
  const execute = async (headers: Record<string, string>) => {
    const { json } = await home.request('POST', '/api/playground/session')
    const body = { agent: 'svc.registry', capability: 'search', input: { query: 'wiki' } }
    return home.request('POST', `/api/playground/session/${json.id}/execute`, { headers, body })
  }

  test('answers a call with its result as an event if the caller accepts events', async () => {
    const { status, headers, text } = await execute(events)
    expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    expect(text).toMatch(/^event: result\ndata: \{.*"step":1\}\n\n$/)
  })

  test.each([
    [{}, 'application/json'],
    [{ Accept: '*/*' }, 'application/json'],
    [{ Accept: 'application/json, text/event-stream' }, 'application/json'],
    [{ Accept: 'text/event-stream, application/json' }, 'text/event-stream'],
  ])('of the types that Accept names, the first is meant: %o', async (headers, type) => {
    expect((await execute(headers)).headers.get('content-type')).toBe(type)
  })

  test('refuses with a problem and its status before the first event', async () => {
    expect((await price(events)).status).toBe(401)
    const { status, headers, json } = await price(events, await home.token('ada'))
    expect([status, headers.get('content-type')]).toEqual([400, 'application/problem+json'])
    expect(json.code).toBe('invalid_request')
  })

  test('and one that does not answers JSON all the same', async () => {
    const { headers } = await home.request('GET', '/public/agents?limit=1', { headers: events })
    expect(headers.get('content-type')).toBe('application/json')
  })

  test('ends when its caller may listen no longer', async () => {
    const token = await home.token('ada')
    const { json } = await home.request('POST', '/api/playground/session', { token })
    const headers = { ...events, Authorization: `Bearer ${token}` }
    const answer = await fetch(`${home.url}/api/playground/session/${json.id}`, { headers })
    const received = eventsOf(answer)
    await take(received, 1)
    const body = { to: 'svc.registry', action: 'revoke', params: { token } }
    expect((await home.request('POST', '/a2a/message', { body, token })).status).toBe(200)
    expect(await take(received, 2)).toMatchObject([{ event: 'error', data: { code: 'unauthenticated' } }])
  })

  test('of MCP ends too when its caller may listen no longer', async () => {
    const token = await home.token('ada')
    const notifications = { resourcesListChanged: true }
    const answer = await fetch(`${home.url}/mcp`, {
      method: 'POST',
      headers: { ...modernHeaders('subscriptions/listen'), Authorization: `Bearer ${token}` },
      body: JSON.stringify(modernRequest(1, 'subscriptions/listen', { notifications })),
    })
    const received = eventsOf(answer)
    await take(received, 1)
    const body = { to: 'svc.registry', action: 'revoke', params: { token } }
    expect((await home.request('POST', '/a2a/message', { body, token })).status).toBe(200)
    await expect(take(received, 1)).rejects.toThrow('terminated')
  })

  test('ends when the gateway stops, saying so', async () => {
    const other = await startGateway()
    const { json } = await other.request('POST', '/api/playground/session')
    const answer = await fetch(`${other.url}/api/playground/session/${json.id}`, { headers: events })
    const received = eventsOf(answer)
    expect(await take(received, 1)).toMatchObject([{ event: 'progress', data: { progress: 0 } }])
    const stopped = other[Symbol.asyncDispose]()
    expect(await take(received, 2)).toMatchObject([{ event: 'error', data: { code: 'unavailable' } }])
    await stopped
  })

  test('completes a finite stream although the gateway stops', async () => {
    const requested = Promise.withResolvers<void>()
    await using page = await replay({
      'GET /': async () => {
        requested.resolve()
        await stopping.promise
        return html('<html><body><p>Water flows downhill.</p></body></html>')
      },
    })
    const stopping = Promise.withResolvers<void>()
    const other = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: page.url })
    const { json } = await other.request('POST', '/api/playground/session')
    const input = { url: `${page.url}/` }
    const answer = other.request('POST', `/api/playground/session/${json.id}/execute`, {
      headers: events,
      body: { agent: 'svc.utility.reader', capability: 'extract_content', input },
    })
    await requested.promise
    const stopped = other.server[Symbol.asyncDispose]()
    while (await isListening(other.url)) await nextTurn()
    stopping.resolve()
    expect((await answer).text).toContain('Water flows downhill.')
    await stopped
    await other[Symbol.asyncDispose]()
  })
})
