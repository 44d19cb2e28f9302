import { Failure } from '../../../../schemas/failure.ts'
import type { Clock } from '../../../common/clock.ts'
import { backoff } from '../../../common/retry.ts'
import { retryAfter } from '../../../common/retry-after.ts'
import type { EmbeddingsFetch, Pause } from './http-types.ts'

interface EndpointOptions {
  /** URL of the `embeddings` resource itself. */
  readonly url: URL
  readonly model: string
  readonly key: string | undefined
  /** Sent with every request, if set. */
  readonly dimensions: number | undefined
  /** Time-out of one request, in milliseconds. */
  readonly timeout_ms: number
  readonly fetch: EmbeddingsFetch
  readonly pause: Pause
  readonly clock: Clock
  readonly random: () => number
}

/**
 * Requests the vectors of one batch, with retries. Throws the signal's reason, Failure `upstream_failed`,
 * `upstream_timeout` or `upstream_invalid`, or the Failure of `fetch` for a forbidden address.
 */
export type EmbeddingsClient = (
  texts: readonly string[],
  signal: AbortSignal,
) => Promise<readonly Float32Array[]>

const attempts = 4
const maxBytes = 16 * 1024 * 1024
const pauses = { first_ms: 500, max_ms: 8_000 }
/** Maximum pause that a server may ask for. After a request for a longer pause, the last failure is thrown. */
const maxRetryAfter_ms = 30_000
/** Failures of `fetch` after which the request is repeated. */
const passing: ReadonlySet<string> = new Set(['upstream_failed', 'upstream_timeout', 'upstream_invalid'])

type Answer = Awaited<ReturnType<EmbeddingsFetch>>

/** Creates the client of an OpenAI-compatible `embeddings` endpoint. */
export function createEmbeddingsClient(options: EndpointOptions): EmbeddingsClient {
  const { url, model, key, dimensions, timeout_ms, fetch, pause, clock, random } = options
  const address = `${url.origin}${url.pathname}`
  const request = { url: url.href, method: 'POST', timeout_ms, max_bytes: maxBytes } as const
  const headers = {
    accept: 'application/json',
    'content-type': 'application/json',
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  }

  async function send(body: string, signal: AbortSignal): Promise<Answer | Failure> {
    try {
      return await fetch({ ...request, headers, body, signal })
    } catch (thrown) {
      signal.throwIfAborted()
      const failure = Failure.from(thrown)
      if (failure.code === 'too_large') throw invalid(address, `is larger than ${maxBytes} bytes`, failure)
      if (!passing.has(failure.code)) throw failure
      return failure
    }
  }

  async function backOff(attempt: number, outcome: Answer | Failure, signal: AbortSignal): Promise<void> {
    const field = outcome instanceof Failure ? undefined : outcome.headers['retry-after']
    try {
      await pause(pauseAfter(attempt, retryAfter(field, clock()), random), signal)
    } finally {
      signal.throwIfAborted()
    }
  }

  return async (texts, signal) => {
    const body = JSON.stringify({ model, input: texts, encoding_format: 'float', dimensions })
    for (let attempt = 1; ; attempt++) {
      const outcome = await send(body, signal)
      if (!(outcome instanceof Failure) && outcome.status === 200) return read(outcome.body, texts, address)
      const failure = outcome instanceof Failure ? outcome : refused(address, outcome.status)
      const mayPass = outcome instanceof Failure || outcome.status === 429 || outcome.status >= 500
      if (!mayPass || attempt === attempts) throw failure
      await backOff(attempt, outcome, signal)
    }
  }
}

/**
 * Milliseconds to wait after failed attempt number `attempt`, counted from 1: the server's Retry-After, else an
 * exponential backoff reduced by a random share of up to a half, so that clients do not retry together.
 */
function pauseAfter(attempt: number, retry_after_s: number | undefined, random: () => number): number {
  if (retry_after_s !== undefined) return Math.min(retry_after_s * 1000, maxRetryAfter_ms)
  return backoff(attempt, pauses) * (1 - random() / 2)
}

function read(body: Uint8Array, texts: readonly string[], address: string): readonly Float32Array[] {
  try {
    return readEmbeddings(body, texts.length)
  } catch (thrown) {
    throw thrown instanceof InvalidEmbeddings ? invalid(address, thrown.message, thrown) : thrown
  }
}

/** The message leaves out the body of the answer, because the body may quote the key. */
function refused(address: string, status: number): Failure {
  return new Failure('upstream_failed', `${address} answered with status ${status}.`, {
    upstream: { status },
  })
}

function invalid(address: string, what: string, cause: unknown): Failure {
  return new Failure('upstream_invalid', `The answer of ${address} ${what}.`, {}, cause)
}

/** The answer of an embeddings endpoint is not valid. */
class InvalidEmbeddings extends Error {
  override readonly name = 'BadAnswer'
}

/**
 * Reads the answer to `count` texts: a vector for each text, in the order in which they were sent, of length 1, or
 * zeros if the model gave zeros. Throws InvalidEmbeddings; its message names the defect and quotes no part of the
 * answer.
 */
function readEmbeddings(body: Uint8Array, count: number): readonly Float32Array[] {
  const rows = rowsOf(parse(body))
  if (rows.length !== count) throw new InvalidEmbeddings(`has ${rows.length} vectors for ${count} texts`)
  const vectors: Float32Array[] = []
  for (const row of rows) {
    const { index, embedding } = fieldsOf(row)
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= count) {
      throw new InvalidEmbeddings('has a vector without the index of a text')
    }
    if (vectors[index]) throw new InvalidEmbeddings(`has two vectors of index ${index}`)
    vectors[index] = unitVector(embedding)
  }
  if (vectors.some(({ length }) => length !== vectors[0]?.length)) {
    throw new InvalidEmbeddings('has vectors of different dimensions')
  }
  return vectors
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body))
  } catch {
    throw new InvalidEmbeddings('is not JSON')
  }
}

function rowsOf(answer: unknown): readonly unknown[] {
  const { data } = fieldsOf(answer)
  if (!Array.isArray(data)) throw new InvalidEmbeddings('has no list of vectors')
  return data
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function unitVector(embedding: unknown): Float32Array {
  if (!Array.isArray(embedding) || embedding.length === 0)
    throw new InvalidEmbeddings('has no vector in a row')
  const vector = new Float64Array(embedding.length)
  let squares = 0
  for (const [index, value] of embedding.entries()) {
    if (typeof value !== 'number')
      throw new InvalidEmbeddings('has a vector with values that are not numbers')
    vector[index] = value
    squares += value * value
  }
  if (!Number.isFinite(squares)) throw new InvalidEmbeddings('has a vector that is not finite')
  const factor = squares === 0 ? 0 : 1 / Math.sqrt(squares)
  return Float32Array.from(vector, (value) => value * factor)
}
