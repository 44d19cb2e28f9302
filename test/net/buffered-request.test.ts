import type { Dispatcher } from 'undici'
import { expect, test } from 'vitest'
import { sendBuffered } from '../../src/net/fetch/buffered-request.ts'
import { rejection } from './support.ts'

/** A dispatcher that the test controls. */
function scripted() {
  const aborted: unknown[] = []
  const events: string[] = []
  const controller = {
    abort: (reason: Error) => void aborted.push(reason),
    pause: () => void events.push('pause'),
    resume: () => void events.push('resume'),
  } as never
  let handler: Required<Dispatcher.DispatchHandler> | undefined
  const dispatch = (_: unknown, dispatched: Dispatcher.DispatchHandler) => {
    handler = dispatched as typeof handler
    return true
  }
  return {
    dispatcher: { dispatch } as unknown as Dispatcher,
    aborted,
    events,
    start: () => handler?.onRequestStart(controller, undefined),
    head: (status: number) => handler?.onResponseStart(controller, status, {}, ''),
    data: (chunk: Uint8Array) => handler?.onResponseData(controller, chunk as Buffer),
    end: () => handler?.onResponseEnd(controller, {}),
  }
}

const options = (signal: AbortSignal, max_bytes = 100) => ({
  signal,
  max_bytes,
  readsBody: () => true,
  tooLarge: () => new Error('too large'),
})
const request = { origin: 'http://example.com', path: '/', method: 'GET' } as const

test('an answer costs the memory of its bytes, however small its chunks: only the first chunk is kept', async () => {
  const { dispatcher, start, head, data, end } = scripted()
  const answer = sendBuffered(dispatcher, request, options(new AbortController().signal, 5))
  start()
  head(200)
  data(Buffer.from('b'))
  const chunk = new Uint8Array(1)
  for (const byte of Buffer.from('ytes')) {
    chunk[0] = byte
    data(chunk)
  }
  end()
  expect(Buffer.from((await answer).body).toString()).toBe('bytes')
})

test('a long answer yields to the event loop', async () => {
  const { dispatcher, events, start, head, data, end } = scripted()
  const answer = sendBuffered(dispatcher, request, options(new AbortController().signal, 1_000_000))
  start()
  head(200)
  for (let at = 0; at < 5; at++) data(new Uint8Array(128 * 1024))
  expect(events).toEqual(['pause'])
  await new Promise((resolve) => setImmediate(resolve))
  expect(events).toEqual(['pause', 'resume'])
  end()
  expect((await answer).body.length).toBe(5 * 128 * 1024)
})

test('an answer is cut off at the first byte above the limit', async () => {
  const { dispatcher, aborted, start, head, data } = scripted()
  const answer = rejection(sendBuffered(dispatcher, request, options(new AbortController().signal, 2)))
  start()
  head(200)
  data(new Uint8Array(2))
  expect(aborted).toEqual([])
  data(new Uint8Array(1))
  expect(await answer).toMatchObject({ message: 'too large' })
  expect(aborted).toHaveLength(1)
})

test.each([['before it has a connection'], ['before its head'], ['in the middle of its body']])(
  'a request whose caller leaves %s releases its connection',
  async (when) => {
    const { dispatcher, aborted, start, head, data } = scripted()
    const caller = new AbortController()
    const answer = rejection(sendBuffered(dispatcher, request, options(caller.signal)))
    if (when !== 'before it has a connection') start()
    if (when === 'in the middle of its body') {
      head(200)
      data(new Uint8Array(1))
    }
    caller.abort(new Error('left'))
    if (when === 'before it has a connection') start()
    expect(await answer).toMatchObject({ message: 'left' })
    expect(aborted).toHaveLength(1)
  },
)
