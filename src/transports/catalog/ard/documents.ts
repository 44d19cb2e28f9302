import { knownCategories } from '../../../../schemas/categories.ts'
import { Failure } from '../../../../schemas/failure.ts'
import type { Call } from '../../../router/call.ts'
import { type ArdEntry, ardEntry, categoryCatalog, ownRegistry } from './entry.ts'
import { type ArdContext, searchAgents } from './registry.ts'

const maxEntries = 100

/**
 * `ard.json`: this registry, the agents that it hosts, and a catalog for each known category. Tens of thousands of
 * entries do not fit one file; the registry's API lists them all.
 */
export async function manifest(context: ArdContext, call: Call): Promise<object> {
  const site = context.site()
  const [hosted, all] = await Promise.all([
    searchAgents(context, { limit: maxEntries, sort: 'name', discovery: true }, call, {
      callable: ['hosted'],
    }),
    searchAgents(context, { limit: 1, facets: true }, call),
  ])
  return catalogOf(context, [
    ownRegistry(site),
    ...hosted.agents.map((agent) => ardEntry(agent, site, agent.discovery)),
    ...knownCategories(all.facets).map(([category, total]) => categoryCatalog(site, category, total)),
  ])
}

/** The newest agents of one category, at most 100. Throws Failure `not_found`. */
export async function categoryDocument(context: ArdContext, category: string, call: Call): Promise<object> {
  const site = context.site()
  const params = { limit: maxEntries, sort: 'newest', discovery: true }
  const isSlug = /^[A-Za-z0-9-]{1,40}$/.test(category)
  const { agents } = await searchAgents(context, params, call, isSlug ? { category } : 'nothing')
  if (agents.length === 0) throw new Failure('not_found', 'No agent has this category.')
  return catalogOf(
    context,
    agents.map((agent) => ardEntry(agent, site, agent.discovery)),
  )
}

/** A document that is an `ard.json` and an AI Catalog at once. */
function catalogOf(context: ArdContext, entries: readonly ArdEntry[]): object {
  const { base_url } = context.site()
  const host = { displayName: 'Dragoman', identifier: base_url, documentationUrl: `${base_url}/llms.txt` }
  return { specVersion: '1.0', host, entries }
}

/** What crawlers are told: everything of ours may be read, and where the pages and the catalog are listed. */
export function robots({ base_url }: { readonly base_url: string }): string {
  return `User-agent: *\nAllow: /\nDisallow: /agent/*/readme\n\nSitemap: ${base_url}/sitemap.xml\nAgentmap: ${base_url}/.well-known/ard.json\n`
}
