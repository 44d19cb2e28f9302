import { createHash } from 'node:crypto'
import type { Mount } from './app.ts'
import { matches } from './etag.ts'
import { send } from './respond.ts'
import { corsHeaders } from './rest.ts'

/** A document that is equal for all callers of one address. */
interface Page<Site> {
  readonly path: string
  readonly type: string
  readonly render: (here: Site) => string
  /** Maximum time for which caches keep the document, in seconds; a minute when absent. */
  readonly max_age_s?: number
}

interface Written {
  readonly text: string
  readonly etag: string
}

/** A document at a path, readable by every web page, rendered once for each address of the gateway. */
export function pageMount<Site>(site: () => Site, { path, type, render, max_age_s = 60 }: Page<Site>): Mount {
  const pages = new Map<string, Written>()

  function written(): Written {
    const here = site()
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
      const { text, etag } = written()
      const headers = {
        ...corsHeaders,
        ETag: etag,
        'Content-Type': type,
        'Cache-Control': `public, max-age=${max_age_s}`,
      }
      if (matches(request.headers['if-none-match'], etag)) send(request, response, 304, '', headers)
      else send(request, response, 200, text, headers)
    },
  }
}

function write(text: string): Written {
  return { text, etag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 16)}"` }
}
