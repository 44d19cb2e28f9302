import { Failure } from '../../../../schemas/failure.ts'
import type { EmbeddingsClient } from './endpoint.ts'

const hint =
  'Check DRAGOMAN_EMBEDDINGS_URL, the base of an OpenAI-compatible API such as http://127.0.0.1:11434/v1, ' +
  'and DRAGOMAN_MODEL, one of its models.'
const keyHint =
  'Check DRAGOMAN_EMBEDDINGS_KEY, and whether it is valid for DRAGOMAN_EMBEDDINGS_URL and DRAGOMAN_MODEL.'

/** The `embeddings` resource of an API; `text` is its URL or the base of the API. Throws Failure `unavailable`. */
export function resourceOf(text: string): URL {
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
export async function probe(
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
