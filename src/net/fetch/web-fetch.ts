import type { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Failure } from '../../../schemas/failure.ts'
import { createLineEnds } from '../../common/sse.ts'
import { createValueMeter } from '../../common/value-meter.ts'
import { ByteBuffer, yieldBytes } from './byte-buffer.ts'
import { limitErrorBody } from './error-body-timeout.ts'
import type { FetchMethod, Open, OpenResponse } from './fetch.ts'

interface WebFetchOptions {
  /** Maximum bytes of one body. */
  readonly max_bytes: number
  /** Maximum bytes of one message (an event of an event stream, else the whole body); `max_bytes` when absent. */
  readonly max_message_bytes?: number
  /** Maximum JSON values (RFC 8259) of one message; small values cost more than their bytes. */
  readonly max_message_values: number
}

const methods: ReadonlySet<string> = new Set<FetchMethod>(['GET', 'POST', 'HEAD', 'DELETE'])
/** Statuses whose answer has no body (Fetch Standard, 2.2.3). */
const bodiless = new Set([101, 103, 204, 205, 304])

/**
 * The `fetch` of the Fetch Standard for libraries that take one, over the guarded client: request bodies are text, and
 * response bodies fail with Failure `upstream_invalid` above the limits, which count decoded bytes. Rejects with Failure,
 * which the library may wrap: `failureIn` finds it again.
 */
export function createWebFetch(open: Open, options: WebFetchOptions): typeof globalThis.fetch {
  return async (input, init = {}) => {
    if (input instanceof Request) throw new TypeError('This fetch takes a URL, not a Request.')
    const { body, method = 'GET', signal } = init
    if (!methods.has(method)) throw new TypeError(`This fetch does not send ${method}.`)
    if (body !== undefined && body !== null && typeof body !== 'string') {
      throw new TypeError('A request body must be text.')
    }
    const answer = await open({
      url: String(input),
      method: method as FetchMethod,
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(typeof body === 'string' && { body }),
      signal: signal ?? new AbortController().signal,
    })
    const { status, headers } = answer
    const responseInit = { status, headers: validHeaders(headers) }
    if (bodiless.has(status) || method === 'HEAD') {
      answer.body.destroy()
      return new Response(null, responseInit)
    }
    // Other bodies are streamed: their reader may stop early, and some bodies never end.
    const isMessage = status === 200 && /\bjson\b/i.test(headers['content-type'] ?? '')
    return new Response(isMessage ? await whole(answer, options) : bounded(answer, options), responseInit)
  }
}

function isEvents({ headers }: OpenResponse): boolean {
  return /^text\/event-stream\b/i.test(headers['content-type'] ?? '')
}

/** Reads an answer that is one message in one piece: a stream would cost several times the CPU. */
async function whole(
  { body, headers, explain }: OpenResponse,
  options: WebFetchOptions,
): Promise<Uint8Array> {
  const { max_bytes, max_message_bytes = max_bytes, max_message_values } = options
  const max = Math.min(max_bytes, max_message_bytes)
  try {
    assertWithin(max, Number(headers['content-length'] ?? 0))
    const bytes = await readWhole(body, max, () => tooLarge(max))
    await assertFewValues(bytes, max_message_values)
    return bytes
  } catch (error) {
    body.destroy()
    throw explain(error)
  }
}

/**
 * Reads a whole body. Rejects as the body does, or with the error of `tooLarge` at the first byte beyond `max_bytes`;
 * the rest is then not read.
 */
function readWhole(body: Readable, max_bytes: number, tooLarge: () => Error): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const collected = new ByteBuffer()
    let sinceYield = 0
    body.once('error', reject)
    body.once('close', () => reject(new Error('The body was closed.')))
    body.once('end', () => resolve(collected.bytes()))
    body.on('data', (chunk: Uint8Array) => {
      if (collected.length + chunk.length > max_bytes) return void body.destroy(tooLarge())
      collected.add(chunk)
      sinceYield += chunk.length
      if (sinceYield <= yieldBytes) return
      sinceYield = 0
      body.pause()
      setImmediate(() => body.resume())
    })
  })
}

async function assertFewValues(bytes: Uint8Array, max: number): Promise<void> {
  const values = createValueMeter(false)
  for (let at = 0; at < bytes.length; at += yieldBytes) {
    if (at > 0) await nextTurn()
    if (values(bytes.subarray(at, at + yieldBytes)) > max) throw tooMany(max)
  }
}

function bounded(
  answer: OpenResponse,
  { max_bytes, max_message_bytes = max_bytes, max_message_values }: WebFetchOptions,
): ReadableStream<Uint8Array> {
  const { status, body, explain } = answer
  const chunks = body.iterator()
  const cut = limitErrorBody(status, () => body.destroy())
  const isStream = isEvents(answer)
  const unread = isStream ? createEventMeter() : createMeter()
  const all = createMeter()
  const values = createValueMeter(isStream)
  const lineEnds = createLineEnds()
  let yieldedAt = 0
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value: sent } = await chunks.next()
        if (done) return end(controller)
        const value = isStream ? lineEnds(sent) : sent
        const bytes = all(sent)
        assertWithin(max_bytes, bytes)
        assertWithin(max_message_bytes, unread(value))
        if (values(value) > max_message_values) throw tooMany(max_message_values)
        if (bytes - yieldedAt > yieldBytes) {
          yieldedAt = bytes
          await nextTurn()
        }
        controller.enqueue(value)
      } catch (error) {
        if (cut?.has_passed) return end(controller)
        cut?.[Symbol.dispose]()
        body.destroy()
        controller.error(explain(error))
      }
    },
    cancel() {
      cut?.[Symbol.dispose]()
      body.destroy()
    },
  })

  function end(controller: ReadableStreamDefaultController): void {
    cut?.[Symbol.dispose]()
    controller.close()
  }
}

type Meter = (chunk: Uint8Array) => number

function createMeter(): Meter {
  let bytes = 0
  return ({ length }) => {
    bytes += length
    return bytes
  }
}

/** Bytes since the last blank line, which ends an event (HTML Standard, 9.2.6); the lines end with a line feed. */
function createEventMeter(): Meter {
  let bytes = 0
  let before = Buffer.alloc(0)
  return (chunk) => {
    const text = Buffer.concat([before, chunk])
    const end = text.lastIndexOf('\n\n')
    bytes = end < 0 ? bytes + chunk.length : text.length - end
    before = text.subarray(-1)
    return bytes
  }
}

function assertWithin(max: number, bytes: number): void {
  if (bytes > max) throw tooLarge(max)
}

function tooLarge(max: number): Failure {
  return new Failure('upstream_invalid', `The answer is larger than ${max} bytes.`, { retryable: false })
}

function tooMany(max: number): Failure {
  return new Failure('upstream_invalid', `The answer has more than ${max} values.`)
}

function validHeaders(headers: Readonly<Record<string, string>>): Headers {
  const all = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    // Fields that the HTTP parser accepts and the Fetch Standard refuses are dropped.
    try {
      all.append(name, value)
    } catch {}
  }
  return all
}

const maxCauses = 5

/** The Failure among an error and its causes. */
export function failureIn(error: unknown): Failure | undefined {
  let current = error
  for (let depth = 0; depth < maxCauses && current instanceof Error; depth++) {
    if (current instanceof Failure) return current
    current = current.cause
  }
  return undefined
}
