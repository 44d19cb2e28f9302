import { Failure } from '../../../schemas/failure.ts'
import type { Fetch } from '../../net/fetch/fetch.ts'

const timeout_ms = 6_000
const smallText = 16 * 1024

/** The origin of a domain's files. */
export function httpsOrigin(domain: string): string {
  return `https://${domain}`
}

/**
 * The text at a URL that only a domain's owner can write: status 200, UTF-8, a text type or none (files without an
 * extension often have none), and every redirect within its origin, since a redirect to another origin proves nothing
 * about the domain. Throws the errors of `fetch`, and Failure `upstream_invalid`.
 */
export async function readText(
  fetch: Fetch,
  url: string,
  signal: AbortSignal,
  {
    max_bytes = smallText,
    types = /^(text\/|application\/octet-stream)/,
  }: { max_bytes?: number; types?: RegExp } = {},
): Promise<string> {
  const answer = await fetch({ url, signal, max_bytes, timeout_ms, headers: { accept: '*/*' } })
  const { origin } = new URL(url)
  const visited = [...answer.redirects, answer.url]
  const elsewhere = visited.find((address) => new URL(address).origin !== origin)
  if (elsewhere !== undefined) {
    throw new Failure(
      'upstream_invalid',
      `${url} redirects to ${new URL(elsewhere).host}, so it does not prove the domain.`,
    )
  }
  if (answer.status !== 200)
    throw new Failure('upstream_failed', `${url} answers with status ${answer.status}.`)
  const type = answer.headers['content-type']?.trim().toLowerCase() ?? ''
  if (type !== '' && !types.test(type)) {
    throw new Failure('upstream_invalid', `${url} has the type ${type.slice(0, 60)}, which is not supported.`)
  }
  return decode(answer.body, url)
}

function decode(body: Uint8Array, url: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch (error) {
    throw new Failure('upstream_invalid', `${url} is not text in UTF-8.`, {}, error)
  }
}
