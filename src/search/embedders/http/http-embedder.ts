import { setTimeout } from 'node:timers/promises'
import { Failure } from '../../../../schemas/failure.ts'
import { type LinkedSignal, linkSignals } from '../../../common/abort.ts'
import type { Clock } from '../../../common/clock.ts'
import { batchesOf, cut } from '../batches.ts'
import type { Embedder } from '../embedder.ts'
import { embedderClosed, PrioritySemaphore, type Purpose } from '../priority-semaphore.ts'
import { createEmbeddingsClient, type EmbeddingsClient } from './endpoint.ts'
import type { EmbeddingsFetch, Pause } from './http-types.ts'

export interface HttpEmbedderOptions {
  /** The API's base (https://host/v1) or its `embeddings` resource. */
  readonly url: string
  /** The name of the model at the endpoint. */
  readonly model: string
  /** Sent as a bearer token; never part of a message or a log. */
  readonly key?: string | undefined
  /** Dimensions to request from a model that has several sizes; the model's default when absent. */
  readonly dimensions?: number | undefined
  readonly fetch: EmbeddingsFetch
  /** Time-out of one request; 30,000 ms when absent. */
  readonly timeout_ms?: number
  readonly pause?: Pause
  readonly clock?: Clock
  /** A random number from 0 to 1, for the jitter of back-offs. */
  readonly random?: () => number
  /** Cancels the creation. */
  readonly signal?: AbortSignal
}

/** A small server without a GPU answers such a batch within seconds, and 1 MB of JSON is parsed in one piece. */
const batchLimits = { texts: 16, characters: 16_000 }
/** Requests in flight; one slot is reserved for queries. */
const slots = 4
const maxWaiting = 256

/**
 * An embedder that uses an OpenAI-compatible endpoint. A first request learns the dimensions, so a wrong address,
 * key or model is found at once. Throws Failure `unavailable` with a hint, or the signal's reason.
 *
 * Embedding throws `upstream_failed`, `upstream_timeout` or `upstream_invalid` after the last attempt, and
 * `unavailable` if too many texts wait.
 */
export async function createHttpEmbedder(options: HttpEmbedderOptions): Promise<Embedder> {
  const url = resourceOf(options.url)
  const endpoint = endpointOf(options, url)
  const dimensions = await probe(endpoint, url, options.dimensions, options.signal)
  const semaphore = new PrioritySemaphore({ slots, document_slots: slots - 1, max_waiting: maxWaiting })
  const closing = new AbortController()

  async function ask(batch: readonly string[], as: Purpose, signal: AbortSignal) {
    using _slot = await semaphore.acquire(as, signal)
    const vectors = await endpoint(batch, signal)
    const answered = vectors[0]?.length
    if (answered === dimensions) return vectors
    const message = `${url.host} now gives vectors of ${answered} dimensions; at the start it gave ${dimensions}.`
    throw new Failure('upstream_invalid', message)
  }

  return {
    model: `http:${options.model}:${dimensions}`,
    dimensions,
    async embed(texts, as, signal) {
      signal.throwIfAborted()
      using both = linkSignals(signal, closing.signal)
      const batches = batchesOf(texts.filter(hasMeaning).map(cut), batchLimits)
      const vectors = (await inTurns(batches, both, (batch) => ask(batch, as, both.signal))).flat().values()
      return texts.map((text) => {
        const vector = hasMeaning(text) ? vectors.next().value : undefined
        return { vector: vector ?? new Float32Array(dimensions), coverage: vector ? 1 : 0 }
      })
    },
    async [Symbol.asyncDispose]() {
      closing.abort(embedderClosed())
      semaphore[Symbol.dispose]()
    },
  }
}

/** Processes all items, several at a time; the first failure cancels the others. */
async function inTurns<In, Out>(
  items: readonly In[],
  whole: LinkedSignal,
  work: (item: In) => Promise<Out>,
): Promise<readonly Out[]> {
  const results: Out[] = []
  const rest = items.entries()
  async function takeTurns(): Promise<void> {
    for (const [index, item] of rest) results[index] = await work(item)
  }
  try {
    await Promise.all(Array.from({ length: slots }, takeTurns))
    return results
  } catch (failure) {
    whole.abort(failure)
    throw failure
  }
}

function endpointOf(options: HttpEmbedderOptions, url: URL): EmbeddingsClient {
  const {
    model,
    key,
    dimensions,
    fetch,
    timeout_ms = 30_000,
    clock = Date.now,
    random = Math.random,
  } = options
  const { pause = (milliseconds, signal) => setTimeout(milliseconds, undefined, { signal }) } = options
  return createEmbeddingsClient({ url, model, key, dimensions, fetch, timeout_ms, pause, clock, random })
}

/** Texts without a letter or digit are not sent. */
function hasMeaning(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text)
}

const hint =
  'Check DRAGOMAN_EMBEDDINGS_URL, the base of an OpenAI-compatible API such as http://127.0.0.1:11434/v1, ' +
  'and DRAGOMAN_MODEL, one of its models.'
const keyHint =
  'Check DRAGOMAN_EMBEDDINGS_KEY, and whether it is valid for DRAGOMAN_EMBEDDINGS_URL and DRAGOMAN_MODEL.'

/** The `embeddings` resource of an API; `text` is its URL or the base of the API. Throws Failure `unavailable`. */
function resourceOf(text: string): URL {
  if (!URL.canParse(text)) throw new Failure('unavailable', 'The embeddings endpoint is not a URL.', { hint })
  const url = new URL(text)
  const path = url.pathname.replace(/\/+$/, '')
  url.pathname = path.endsWith('/embeddings') ? path : `${path}/embeddings`
  return url
}

/**
 * Learns the dimensions of the endpoint. Throws Failure `unavailable` with a hint if the endpoint gives no vectors, or
 * vectors of other dimensions than configured; or the signal's reason.
 */
async function probe(
  endpoint: EmbeddingsClient,
  { host }: URL,
  configured: number | undefined,
  signal: AbortSignal = new AbortController().signal,
): Promise<number> {
  const [vector] = await endpoint(['dragoman'], signal).catch((thrown: unknown) => {
    signal.throwIfAborted()
    throw unusable(Failure.from(thrown))
  })
  const dimensions = vector?.length ?? 0
  if (configured === undefined || configured === dimensions) return dimensions
  const message = `${host} gives vectors of ${dimensions} dimensions instead of the configured ${configured}.`
  throw new Failure('unavailable', message, { hint })
}

function unusable(failure: Failure): Failure {
  const status = failure.details.upstream?.status
  const details = { ...failure.details, hint: status === 401 || status === 403 ? keyHint : hint }
  return new Failure(
    'unavailable',
    `The embeddings endpoint cannot be used. ${failure.message}`,
    details,
    failure,
  )
}
