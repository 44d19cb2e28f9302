import { setImmediate as nextTurn } from 'node:timers/promises'
import { Failure } from '../../../schemas/failure.ts'
import { cutExplanation } from './error-body-timeout.ts'
import type { Method, Open, OpenResponse } from './fetch.ts'
import { readWhole } from './read-whole.ts'
import { createValueMeter } from './value-meter.ts'
import { turnBytes } from './yield-size.ts'

export interface WebFetchOptions {
  /** Most bytes of one body. */
  readonly max_bytes: number
  /** Most bytes that are read at once: one event of an event stream, any other body; as many as the body when absent. */
  readonly max_message_bytes?: number
  /** Most values (RFC 8259) in that, which cost more than their bytes tell. */
  readonly max_message_values: number
}

const methods: ReadonlySet<string> = new Set<Method>(['GET', 'POST', 'HEAD', 'DELETE'])
/** Statuses whose answer has no body (Fetch Standard, 2.2.3). */
const bodiless = new Set([101, 103, 204, 205, 304])

/**
 * The `fetch` of the Fetch Standard for libraries that take one, by our guarded client: request bodies are text, and
 * bodies of answers break off with Failure `upstream_invalid` after so many bytes. Rejects with Failure, which the
 * library may wrap: `failureIn` finds it again.
 */
export function createWebFetch(open: Open, options: WebFetchOptions): typeof globalThis.fetch {
  return async (input, init = {}) => {
    if (input instanceof Request) throw new TypeError('A URL is fetched here, not a Request.')
    const { body, method = 'GET', signal } = init
    if (!methods.has(method)) throw new TypeError(`${method} is not sent here.`)
    if (body !== undefined && body !== null && typeof body !== 'string') {
      throw new TypeError('A request body is text here.')
    }
    const answer = await open({
      url: String(input),
      method: method as Method,
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(typeof body === 'string' && { body }),
      signal: signal ?? new AbortController().signal,
    })
    const { status, headers } = answer
    const coding = headers['content-encoding'] ?? 'identity'
    if (coding !== 'identity') {
      answer.body.destroy()
      throw new Failure('upstream_invalid', `The content coding ${coding.slice(0, 60)} was not asked for.`)
    }
    const shown = { status, headers: sound(headers) }
    if (bodiless.has(status) || method === 'HEAD') {
      answer.body.destroy()
      return new Response(null, shown)
    }
    // Whatever is no message is read only as far as its reader cares, and some do not end it.
    const isMessage = status === 200 && /\bjson\b/i.test(headers['content-type'] ?? '')
    return new Response(isMessage ? await whole(answer, options) : bounded(answer, options), shown)
  }
}

function isEvents({ headers }: OpenResponse): boolean {
  return /^text\/event-stream\b/i.test(headers['content-type'] ?? '')
}

/** The whole of an answer that is one message: a stream between would cost several times as much. */
async function whole(
  { body, headers, explain }: OpenResponse,
  options: WebFetchOptions,
): Promise<Uint8Array> {
  const { max_bytes, max_message_bytes = max_bytes, max_message_values } = options
  const most = Math.min(max_bytes, max_message_bytes)
  try {
    assertWithin(most, Number(headers['content-length'] ?? 0))
    const bytes = await readWhole(body, most, () => tooLarge(most))
    await assertFewValues(bytes, max_message_values)
    return bytes
  } catch (error) {
    body.destroy()
    throw explain(error)
  }
}

async function assertFewValues(bytes: Uint8Array, most: number): Promise<void> {
  const values = createValueMeter(false)
  for (let at = 0; at < bytes.length; at += turnBytes) {
    if (at > 0) await nextTurn()
    if (values(bytes.subarray(at, at + turnBytes)) > most) throw tooMany(most)
  }
}

function bounded(
  answer: OpenResponse,
  { max_bytes, max_message_bytes = max_bytes, max_message_values }: WebFetchOptions,
): ReadableStream<Uint8Array> {
  const { status, body, explain } = answer
  const chunks = body.iterator()
  const cut = cutExplanation(status, () => body.destroy())
  const isStream = isEvents(answer)
  const unread = isStream ? createEventMeter() : createMeter()
  const all = createMeter()
  const values = createValueMeter(isStream)
  let turned = 0
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await chunks.next()
        if (done) return end(controller)
        const bytes = all(value)
        assertWithin(max_bytes, bytes)
        assertWithin(max_message_bytes, unread(value))
        if (values(value) > max_message_values) throw tooMany(max_message_values)
        if (bytes - turned > turnBytes) {
          turned = bytes
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

/** Of what came since the last blank line, which ends an event (HTML Standard, 9.2.6), or thereabouts. */
function createEventMeter(): Meter {
  let bytes = 0
  let before = Buffer.alloc(0)
  return (chunk) => {
    const text = Buffer.concat([before, chunk])
    const end = Math.max(...['\n\n', '\n\r\n', '\r\r'].map((blank) => text.lastIndexOf(blank)))
    bytes = end < 0 ? bytes + chunk.length : text.length - end
    before = text.subarray(-2)
    return bytes
  }
}

function assertWithin(most: number, bytes: number): void {
  if (bytes > most) throw tooLarge(most)
}

function tooLarge(most: number): Failure {
  return new Failure('upstream_invalid', `The answer is larger than ${most} bytes.`)
}

function tooMany(most: number): Failure {
  return new Failure('upstream_invalid', `The answer holds more than ${most} values.`)
}

function sound(headers: Readonly<Record<string, string>>): Headers {
  const all = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    // What HTTP's parser let through and the Fetch Standard refuses is of no use to anybody.
    try {
      all.append(name, value)
    } catch {}
  }
  return all
}

const deepest = 5

/** The Failure that an error is, or was made of. */
export function failureIn(error: unknown): Failure | undefined {
  let current = error
  for (let depth = 0; depth < deepest && current instanceof Error; depth++) {
    if (current instanceof Failure) return current
    current = current.cause
  }
  return undefined
}
