import { type Duplex, Readable, pipeline as streamPipeline } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { Agent, request as send } from 'undici'
import { Failure } from '../../../schemas/failure.ts'
import { abortable } from '../../common/abort.ts'
import { sendBuffered } from './buffered-request.ts'
import { guardedConnector, type Lookup } from './connector.ts'
import type { FetchResponse } from './fetch.ts'
import { type Hop, nextHop } from './redirect.ts'
import type { Rules } from './rules.ts'

type Answer = Pick<FetchResponse, 'status' | 'headers' | 'body'>

/** An answer whose body the receiver reads or destroys. */
export interface StreamedAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readable
}

/** An HTTP client over connections that the rules allow. */
export interface HttpClient extends AsyncDisposable {
  /** Sends one hop; resolves to its answer, or to the next hop of a redirect, whose body is dropped. */
  exchange(hop: Hop, signal: AbortSignal, maxBytes: number): Promise<Answer | Hop>
  /** Sends one hop; resolves to its answer when the head has arrived. */
  open(hop: Hop, signal: AbortSignal): Promise<StreamedAnswer>
}

interface ClientOptions {
  /** Milliseconds for which the server may be silent. */
  readonly idle_ms: number
  /** Connections to one origin; null: no limit. */
  readonly connections: number | null
}

export function createHttpClient(
  lookup: Lookup,
  rules: Rules,
  { idle_ms, connections }: ClientOptions,
): HttpClient {
  const dispatcher = new Agent({
    connect: guardedConnector(lookup, rules),
    allowH2: false,
    maxHeaderSize: 16 * 1024,
    headersTimeout: idle_ms,
    bodyTimeout: idle_ms,
    connections,
  })

  async function open({ url, method, headers, body }: Hop, signal: AbortSignal): Promise<StreamedAnswer> {
    // undici ignores the signal until the request has a connection.
    const response = await abortable(
      send(url, { dispatcher, method, headers, body: body ?? null, signal }),
      signal,
    )
    // The code that ends a body early (a refusal, a destroyed stream) reports the error itself.
    response.body.on('error', () => {})
    try {
      const decoded = decodedStream(response.body, plainHeaders(response.headers))
      return { status: response.statusCode, ...decoded }
    } catch (refused) {
      response.body.destroy()
      throw refused
    }
  }

  return {
    open,
    async exchange(hop, signal, max_bytes) {
      const { url, method, headers, body } = hop
      let next: Hop | undefined
      const { origin, pathname, search } = url
      const answer = await sendBuffered(
        dispatcher,
        { origin, path: pathname + search, method, headers, body: body ?? null },
        {
          signal,
          max_bytes,
          tooLarge: () => tooLarge(max_bytes),
          readsBody(status, { location, 'content-length': length, 'content-type': type = '' }) {
            next = nextHop(hop, status, location, rules)
            // A stream of events at an address that is only read has no end.
            if (next || (method === 'GET' && String(type).startsWith('text/event-stream'))) return false
            if (method !== 'HEAD' && Number(length ?? 0) > max_bytes) throw tooLarge(max_bytes)
            return true
          },
        },
      )
      if (next) return next
      const plain = plainHeaders(answer.headers)
      return { status: answer.status, headers: plain, body: await decoded(answer.body, plain, max_bytes) }
    },
    [Symbol.asyncDispose]: () => dispatcher.destroy(),
  }
}

function plainHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const plain: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (name === 'set-cookie' || value === undefined) continue
    plain[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value
  }
  return plain
}

const decoders = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['br', createBrotliDecompress],
  ['deflate', createInflate],
])

/**
 * The decoder of a body with at most one content coding (RFC 9110, 8.4); undefined if it has none. Throws Failure
 * `upstream_invalid` for an unknown coding or stacked codings.
 */
function decoderOf(headers: Readonly<Record<string, string>>): Duplex | undefined {
  const coding = headers['content-encoding']?.trim().toLowerCase() || 'identity'
  if (coding === 'identity') return undefined
  const create = decoders.get(coding)
  if (create) return create()
  throw new Failure('upstream_invalid', `The content coding ${coding.slice(0, 60)} is not accepted.`)
}

/** The decoded body with the headers that are true of it; some servers compress what was asked for uncompressed. */
function decodedStream(
  body: Readable,
  headers: Readonly<Record<string, string>>,
): Omit<StreamedAnswer, 'status'> {
  const decoder = headers['content-length'] === '0' ? undefined : decoderOf(headers)
  if (!decoder) return { headers, body }
  const { 'content-encoding': _coding, 'content-length': _length, ...others } = headers
  // The reader gets the error from the decoder.
  streamPipeline(body, decoder, () => {})
  return { headers: others, body: decoder }
}

/**
 * Stops at `max_bytes` of decoded bytes, which bounds a decompression bomb. Throws Failure `too_large`, and as
 * `decoderOf`; errors of the decoder pass through.
 */
async function decoded(
  body: Uint8Array,
  headers: Readonly<Record<string, string>>,
  max_bytes: number,
): Promise<Uint8Array> {
  const decoder = body.length === 0 ? undefined : decoderOf(headers)
  if (!decoder) return body
  const chunks: Uint8Array[] = []
  let length = 0
  await pipeline(Readable.from([body]), decoder, async (source: AsyncIterable<Uint8Array>) => {
    for await (const chunk of source) {
      length += chunk.length
      if (length > max_bytes) throw tooLarge(max_bytes)
      chunks.push(chunk)
    }
  })
  return Buffer.concat(chunks, length)
}

function tooLarge(max_bytes: number): Failure {
  return new Failure('too_large', `The answer is larger than ${max_bytes} bytes.`)
}
