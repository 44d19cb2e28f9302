import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { gzipSync } from 'node:zlib'
import type { TransportContext } from '../shared/transport-context.ts'
import type { Mount } from './app.ts'
import { overCost } from './caller.ts'
import { matches } from './etag.ts'
import { requestId } from './request-id.ts'
import { send, sendFailure } from './respond.ts'
import { corsHeaders } from './rest.ts'

/** A document that is equal for all callers of one address. */
interface Page<Here> {
  readonly path: string
  readonly type: string
  readonly render: (here: Here) => string
  /** Maximum time for which caches keep the document, in seconds; a minute when absent. */
  readonly max_age_s?: number
  /** The header `Link`. */
  readonly link?: (here: Here) => string
}

interface Site {
  readonly base_url: string
}

interface PageContext<Here extends Site> extends Pick<TransportContext, 'limits' | 'trusted_proxies'> {
  readonly site: () => Here
}

/** A document as it is sent, with or without compression, which each have a validator (RFC 9110 section 8.8.3.3). */
interface Written {
  readonly bytes: Buffer
  readonly etag: string
}

interface Versions {
  readonly plain: Written
  readonly compressed: Written
}

/** A document at a path, readable by every web page, rendered once for each address of the gateway. */
export function pageMount<Here extends Site>(
  context: PageContext<Here>,
  { path, type, render, link, max_age_s = 60 }: Page<Here>,
): Mount {
  const pages = new Map<string, Versions>()

  function written(): Versions {
    const here = context.site()
    const key = JSON.stringify(here)
    const page = pages.get(key) ?? write(render(here))
    pages.set(key, page)
    return page
  }
  return {
    method: 'get',
    path,
    open: true,
    async handler(request, response) {
      const failure = overCost(context, request)
      if (failure) return sendFailure(context, request, response, failure, requestId(request), corsHeaders)
      const { plain, compressed } = written()
      const isCompressed = acceptsGzip(request)
      const { bytes, etag } = isCompressed ? compressed : plain
      const headers = {
        ...corsHeaders,
        ETag: etag,
        'Content-Type': type,
        'Cache-Control': `public, max-age=${max_age_s}`,
        Vary: 'Accept-Encoding',
        ...(link && { Link: link(context.site()) }),
        ...(isCompressed && { 'Content-Encoding': 'gzip' }),
      }
      if (matches(request.headers['if-none-match'], etag)) send(request, response, 304, '', headers)
      else send(request, response, 200, bytes, headers)
    },
  }
}

/** The link to the catalog of ARD 0.91 (section 5.1). */
export function catalogLink({ base_url }: Site): string {
  return `<${base_url}/.well-known/ard.json>; rel="ard"`
}

function write(text: string): Versions {
  const digest = createHash('sha256').update(text).digest('base64url').slice(0, 16)
  const bytes = Buffer.from(text)
  return {
    plain: { bytes, etag: `"${digest}"` },
    compressed: { bytes: gzipSync(bytes), etag: `"${digest}-gzip"` },
  }
}

/** RFC 9110 section 12.5.3; a weight of zero refuses the encoding. */
function acceptsGzip({ headers }: IncomingMessage): boolean {
  const accepted = String(headers['accept-encoding'] ?? '').split(',')
  return accepted.some((coding) => /^\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*$)[\d.]+\s*)?$/i.test(coding))
}
