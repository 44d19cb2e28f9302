import { hash } from 'node:crypto'
import { Failure } from '../../../schemas/failure.ts'
import type { Fetch } from '../../net/fetch/fetch.ts'

/** A card as fetched from a URL. */
export interface FetchedCard {
  readonly document: unknown
  /** SHA-256 of the bytes, in hex. */
  readonly sha256: string
  /** The URL after redirects. */
  readonly url: string
}

export type FetchCard = (url: string, signal: AbortSignal) => Promise<FetchedCard>

/** Maximum size in bytes. */
export const maxManifestBytes = 256 * 1024
const timeout = 6000

/** Fetches the document at a URL. Throws Failure `upstream_…`, `blocked_address`, `too_large`. */
export function createManifestReader(fetch: Fetch): FetchCard {
  return async (url, signal) => {
    const headers = { accept: 'application/json' }
    const answer = await fetch({ url, signal, headers, max_bytes: maxManifestBytes, timeout_ms: timeout })
    if (answer.status !== 200) {
      throw new Failure('upstream_failed', `The manifest answers ${answer.status}.`, {
        upstream: { status: answer.status },
      })
    }
    const sha256 = hash('sha256', answer.body, 'hex')
    return { document: parseManifest(answer.body), sha256, url: answer.url }
  }
}

/** Parses the bytes of a card. Throws Failure `upstream_invalid`. */
export function parseManifest(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch (fault) {
    throw new Failure('upstream_invalid', 'The manifest is not JSON.', {}, fault)
  }
}
