import { createHash } from 'node:crypto'
import type { EntryDetail } from '../../../../schemas/card.ts'
import { codes, Failure } from '../../../../schemas/failure.ts'
import type { JsonObject } from '../../../../schemas/json.ts'
import { registryName } from '../../../../schemas/names.ts'
import type { AgentIcon } from '../../../../schemas/publisher-file.ts'
import type { AgentPage, NameCompletion } from '../../../../schemas/search.ts'
import { costs } from '../../../router/limiter.ts'
import type { Mount } from '../../http/app.ts'
import { overCost } from '../../http/caller.ts'
import { currentTag, sendCoded } from '../../http/coded.ts'
import { documentMount } from '../../http/document.ts'
import type { ReadRequest } from '../../http/input.ts'
import { requestId } from '../../http/request-id.ts'
import { send, sendFailure } from '../../http/respond.ts'
import { corsHeaders, signalOf } from '../../http/rest.ts'
import { clientOf } from '../../shared/client-address.ts'
import { failureOf, type TransportContext } from '../../shared/transport-context.ts'
import { html } from '../html.ts'
import { badgeOf, tileOf, unlistedBadge } from './agent/badge.ts'
import type { AssetPaths } from './assets.ts'
import { agentAtomOf, atomOf, readAgentChanges, readChanges } from './changes.ts'
import { pageOf } from './parts.ts'
import { queryOf, type Visit } from './view.ts'
import { words } from './words.ts'

/** Addresses in one file of the sitemap; sitemaps.org allows 50,000. */
const perFile = 10_000
/** Names that one call of the registry lists. */
const perCall = 1000
const maxSuggestions = 8
const hour = 3600

interface Feed {
  readonly path: string
  readonly type: string
  readonly max_age_s: number
  readonly render: (request: ReadRequest, ask: Visit['ask']) => Promise<string | Buffer>
  /** The picture (SVG) in the place of an error; a problem document when absent. */
  readonly instead?: (request: ReadRequest, failure: Failure) => string | undefined
}

/** What programs read of the pages: badges, feeds, the sitemap and the description of the search. */
export function feedMounts(context: TransportContext, { icon }: Pick<AssetPaths, 'icon'>): Mount[] {
  const base = () => context.site().base_url
  const feeds: readonly Feed[] = [
    {
      path: '/badge/:file',
      type: 'image/svg+xml',
      max_age_s: 300,
      render: async (request, ask) =>
        badgeOf(await ask<EntryDetail>('get_agent', { agent: fileName(request, '.svg') })),
      instead: (request, { code }) =>
        code === 'not_found' ? unlistedBadge(fileName(request, '.svg')) : undefined,
    },
    {
      path: '/icon/:file',
      type: 'image/png',
      max_age_s: 24 * hour,
      async render(request, ask) {
        const { data } = await ask<AgentIcon>('get_icon', { agent: fileName(request, '.png') })
        return Buffer.from(data, 'base64')
      },
      instead: (request, { code }) =>
        code === 'rate_limited' ? undefined : tileOf(fileName(request, '.png')).html,
    },
    {
      path: '/changes.atom',
      type: 'application/atom+xml; charset=utf-8',
      max_age_s: 60,
      async render(request, ask) {
        const agent = queryOf(request).get('agent')
        if (agent) return agentAtomOf(await readAgentChanges(ask, agent), base())
        return atomOf(await readChanges(ask), base())
      },
    },
    {
      path: '/sitemap.xml',
      type: 'application/xml; charset=utf-8',
      max_age_s: hour,
      render: (_, ask) => sitemapIndex(ask, base()),
    },
    {
      path: '/sitemap/agents.xml',
      type: 'application/xml; charset=utf-8',
      max_age_s: hour,
      render: (request, ask) => sitemapFile(ask, base(), queryOf(request).get('after') ?? ''),
    },
    {
      path: '/search/suggestions',
      type: 'application/x-suggestions+json',
      max_age_s: 60,
      render: (request, ask) => suggestions(ask, base(), queryOf(request).get('q')?.trim() ?? ''),
    },
  ]
  return [
    ...feeds.map((feed) => mountOf(context, feed)),
    documentMount(context, {
      path: '/opensearch.xml',
      type: 'application/opensearchdescription+xml; charset=utf-8',
      max_age_s: 24 * hour,
      render: ({ base_url }) => openSearch(base_url),
    }),
    {
      method: 'get',
      path: '/favicon.ico',
      async handler(request, response) {
        send(request, response, 302, '', { Location: icon, 'Cache-Control': 'public, max-age=86400' })
      },
    },
  ]
}

function mountOf(context: TransportContext, { path, type, max_age_s, render, instead }: Feed): Mount {
  return {
    method: 'get',
    path,
    open: true,
    async handler(request, response) {
      const id = requestId(request)
      const client = clientOf(context, request)
      const call = { principal: null, signal: signalOf(response), id, client }
      const charge = (bytes: number) =>
        context.limits.charge({ principal: null, client }, bytes * costs.compressedByte)
      const headers = {
        ...corsHeaders,
        'Content-Type': type,
        // A picture or a feed that is opened alone runs nothing.
        'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
        'X-Request-Id': id,
      }
      try {
        const refused = overCost(context, request)
        if (refused) throw refused
        const ask = async <Output>(action: string, params: JsonObject) =>
          (await context.dispatch({ to: registryName, action, params }, call)).output as Output
        const text = await render(request, ask)
        const ETag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 16)}"`
        const fresh = { ...headers, ETag, 'Cache-Control': `public, max-age=${max_age_s}` }
        if (currentTag(request, ETag) !== undefined) return send(request, response, 304, '', fresh)
        if (typeof text !== 'string') return send(request, response, 200, text, fresh)
        await sendCoded(request, response, 200, text, fresh, charge)
      } catch (thrown) {
        const failure = failureOf(context, thrown)
        const picture = instead?.(request, failure)
        if (picture === undefined) return sendFailure(context, request, response, failure, id, corsHeaders)
        const short = { ...headers, 'Content-Type': 'image/svg+xml', 'Cache-Control': 'public, max-age=60' }
        send(request, response, codes[failure.code].http, picture, short)
      }
    },
  }
}

/** The agent whose picture the address names. */
function fileName({ params }: ReadRequest, ending: '.svg' | '.png'): string {
  const file = String(params.file)
  if (!file.endsWith(ending)) throw new Failure('not_found', `The picture of an agent is at NAME${ending}.`)
  return file.slice(0, -ending.length)
}

/** Listed names behind a name, and whether there are more. */
async function namesAfter(ask: Visit['ask'], after: string, limit: number): Promise<NameCompletion> {
  const names: string[] = []
  for (;;) {
    const page = await ask<NameCompletion>('complete_name', {
      limit: Math.min(perCall, limit - names.length),
      after: names.at(-1) ?? after,
    })
    names.push(...page.names)
    if (!page.more || names.length >= limit) return { ...page, names }
  }
}

/** Each file begins behind the last name of the file before it, so that its address says which names it has. */
async function sitemapIndex(ask: Visit['ask'], base: string): Promise<string> {
  const begins = ['']
  for (let after = ''; ; ) {
    const { names, more } = await namesAfter(ask, after, perFile)
    after = names.at(-1) ?? ''
    if (!more || after === '') break
    begins.push(after)
  }
  const files = begins.map(
    (after) =>
      html`<sitemap><loc>${base}/sitemap/agents.xml${after === '' ? '' : `?after=${encodeURIComponent(after)}`}</loc></sitemap>\n`,
  )
  return xml(
    html`<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${files}</sitemapindex>\n`.html,
  )
}

async function sitemapFile(ask: Visit['ask'], base: string, after: string): Promise<string> {
  const { names } = await namesAfter(ask, after.slice(0, 220), perFile)
  const paths = [...(after === '' ? ['/', '/search', '/connect'] : []), ...names.map(pageOf)]
  const urls = paths.map((path) => html`<url><loc>${base}${path}</loc></url>\n`)
  return xml(html`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls}</urlset>\n`.html)
}

function xml(root: string): string {
  return `<?xml version="1.0" encoding="utf-8"?>\n${root}`
}

/** Names, descriptions and addresses of agents for the address bar (OpenSearch Suggestions 1.1). */
async function suggestions(ask: Visit['ask'], base: string, query: string): Promise<string> {
  if (query === '') return JSON.stringify(['', [], [], []])
  const params = { query: query.slice(0, 1000), limit: maxSuggestions, federation: 'none' }
  const { agents } = await ask<AgentPage>('search_agents', params)
  return JSON.stringify([
    query,
    agents.map(({ name }) => name),
    agents.map(({ description }) => description.slice(0, 120)),
    agents.map(({ package_name }) => `${base}${pageOf(package_name)}`),
  ])
}

function openSearch(base: string): string {
  return xml(
    html`<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/"><ShortName>${words.product}</ShortName><Description>${words.lead.slice(0, 1024)}</Description><InputEncoding>UTF-8</InputEncoding><Url type="text/html" template="${base}/search?q={searchTerms}"/><Url type="application/x-suggestions+json" template="${base}/search/suggestions?q={searchTerms}"/><Url type="application/opensearchdescription+xml" rel="self" template="${base}/opensearch.xml"/></OpenSearchDescription>
`.html,
  )
}
