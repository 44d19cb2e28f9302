import { hash } from 'node:crypto'
import type { ServerStatement } from '../../../schemas/entry-parts.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { Fetch, FetchResponse } from '../../net/fetch/fetch.ts'
import { introduce, type ReadServer } from '../capabilities/server-statement.ts'

/** A card as fetched from a URL. */
export interface FetchedCard {
  readonly document: unknown
  /** SHA-256 of the bytes, in hex. */
  readonly sha256: string
  /** The URL after redirects. */
  readonly url: string
  /** Present if the URL is an MCP server: what it states. The document is then made from this statement. */
  readonly server?: ServerStatement
}

export type FetchCard = (url: string, signal: AbortSignal) => Promise<FetchedCard>

/** Maximum size in bytes. */
export const maxManifestBytes = 256 * 1024
const timeout = 6000

/** How MCP servers refuse the GET of a card. */
const refusals = new Set([400, 401, 403, 404, 405, 406, 415])

/**
 * Fetches the document at a URL, which may be the address of an MCP server. Throws Failure `upstream_…`,
 * `blocked_address`, `too_large`.
 */
export function createManifestReader(fetch: Fetch, readServer?: ReadServer): FetchCard {
  async function asServer(url: string, signal: AbortSignal): Promise<FetchedCard | undefined> {
    const server = await readServer?.(
      { protocol: 'mcp', url },
      AbortSignal.any([signal, AbortSignal.timeout(timeout)]),
    ).catch(() => undefined)
    signal.throwIfAborted()
    if (!server) return undefined
    const document = introduce(server, url)
    return { document, sha256: hash('sha256', JSON.stringify(document), 'hex'), url, server }
  }

  return async (url, signal) => {
    const headers = { accept: 'application/json' }
    const answer = await fetch({ url, signal, headers, max_bytes: maxManifestBytes, timeout_ms: timeout })
    const server = mayBeServer(answer) ? await asServer(url, signal) : undefined
    if (server) return server
    if (answer.status !== 200) {
      throw new Failure('upstream_failed', `The manifest answers ${answer.status}.`, {
        upstream: { status: answer.status },
        hint: hintFor(answer.status, url),
      })
    }
    const sha256 = hash('sha256', answer.body, 'hex')
    return { document: parseManifest(answer.body, hintFor(answer.status, url)), sha256, url: answer.url }
  }
}

function hintFor(status: number, url: string): string {
  return status === 401 || status === 403
    ? `${expected} A server that needs a credential is published by name, description and endpoints, in place of manifest_url.`
    : addressHint(url)
}

const expected = 'Give the URL of a card, or of an MCP server that answers without a credential.'

/** What to publish in place of a URL that is no card. */
export function addressHint(url: string): string {
  const card = new URL('/.well-known/agent-card.json', url).href
  const old = new URL('/.well-known/agent.json', url).href
  if (url === old) return expected
  return url === card
    ? `${expected} The card of an A2A agent before 0.3 is usually at ${old}.`
    : `${expected} The card of an A2A agent is usually at ${card}, before 0.3 at ${old}.`
}

function mayBeServer({ status, headers }: FetchResponse): boolean {
  return refusals.has(status) || (headers['content-type']?.startsWith('text/event-stream') ?? false)
}

/** Parses the bytes of a card. Throws Failure `upstream_invalid`, with the hint. */
export function parseManifest(body: Uint8Array, hint?: string): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch (fault) {
    throw new Failure(
      'upstream_invalid',
      'The manifest is not JSON.',
      hint === undefined ? {} : { hint },
      fault,
    )
  }
}
