import { Failure } from '../../schemas/failure.ts'
import type { Fetch } from '../net/fetch.ts'
import { type Manifest, readCard } from './manifest.ts'

const largestManifest = 256 * 1024
const timeout = 6000

/** Fetches and reads the card at a URL. Throws Failure `upstream_…`, `blocked_address`, `too_large`. */
export function createManifestReader(fetch: Fetch): (url: string, signal: AbortSignal) => Promise<Manifest> {
  return async (url, signal) => {
    const headers = { accept: 'application/json' }
    const answer = await fetch({ url, signal, headers, max_bytes: largestManifest, timeout_ms: timeout })
    if (answer.status !== 200) {
      throw new Failure('upstream_failed', `The manifest answers ${answer.status}.`, {
        upstream: { status: answer.status },
      })
    }
    return readCard(parse(answer.body))
  }
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch (fault) {
    throw new Failure('upstream_invalid', 'The manifest is not JSON.', {}, fault)
  }
}
