import { LRUCache } from 'lru-cache'
import type { Site } from '../../../schemas/site.ts'
import { Answer } from '../shared/coding.ts'
import type { TransportContext } from '../shared/transport-context.ts'
import type { Mount } from './app.ts'
import { overCost } from './caller.ts'
import { matches } from './etag.ts'
import { requestId } from './request-id.ts'
import { send, sendFailure } from './respond.ts'
import { corsHeaders } from './rest.ts'

/** A document that is equal for all callers of one address. */
interface Document<Here> {
  readonly path: string
  readonly type: string
  readonly render: (here: Here, part: string) => string
  /** The part of the document that a query asks for. Throws Failure. Queries are ignored when absent. */
  readonly part?: (query: string) => string
  /** Maximum time for which caches keep the document, in seconds; a minute when absent. */
  readonly max_age_s?: number
  /** The request header that chooses between this document and another one at its path. */
  readonly vary?: string
  /** The header `Link`. */
  readonly link?: (here: Here) => string
}

type Address = Pick<Site, 'base_url'>

interface DocumentContext<Here extends Address> extends Pick<TransportContext, 'limits' | 'trusted_proxies'> {
  readonly site: () => Here
}

/** A document at a path, readable by every web page, rendered once for each address of the gateway and each part. */
export function documentMount<Here extends Address>(
  context: DocumentContext<Here>,
  { path, type, render, part, vary, link, max_age_s = 60 }: Document<Here>,
): Mount {
  const documents = new LRUCache<string, Answer>({ max: 64 })

  function written(url: string): Answer {
    const here = context.site()
    const [, query = ''] = url.split('?', 2)
    const chosen = part?.(query) ?? ''
    const key = JSON.stringify([here, chosen])
    const document = documents.get(key) ?? new Answer(render(here, chosen))
    documents.set(key, document)
    return document
  }
  return {
    method: 'get',
    path,
    open: true,
    async handler(request, response) {
      const failure = overCost(context, request)
      if (failure) return sendFailure(context, request, response, failure, requestId(request), corsHeaders)
      const { bytes, etag, coding } = await written(request.url ?? '').acceptedBy(request)
      const headers = {
        ...corsHeaders,
        ETag: etag,
        'Content-Type': type,
        'Cache-Control': `public, max-age=${max_age_s}`,
        Vary: vary === undefined ? 'Accept-Encoding' : `${vary}, Accept-Encoding`,
        ...(link && { Link: link(context.site()) }),
        ...(coding && { 'Content-Encoding': coding }),
      }
      if (matches(request.headers['if-none-match'], etag)) send(request, response, 304, '', headers)
      else send(request, response, 200, bytes, headers)
    },
  }
}

/** The link to the catalog of ARD 0.91 (section 5.1). */
export function catalogLink({ base_url }: Address): string {
  return `<${base_url}/.well-known/ard.json>; rel="ard"`
}
