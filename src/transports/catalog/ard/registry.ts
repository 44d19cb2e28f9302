import {
  identifierOf,
  packageNamesFor,
  publisherOf,
  readIdentifier,
  registryEntry,
  typeOfProtocol,
} from '../../../../schemas/ard.ts'
import type { EntryDetail, SearchHit } from '../../../../schemas/card.ts'
import { discoveryOf } from '../../../../schemas/discovery.ts'
import type { FacetName } from '../../../../schemas/entry-fields.ts'
import { Failure } from '../../../../schemas/failure.ts'
import type { ForeignAgent } from '../../../../schemas/federation.ts'
import type { JsonObject } from '../../../../schemas/json.ts'
import { registryName } from '../../../../schemas/names.ts'
import type { AgentPage } from '../../../../schemas/search.ts'
import type { Site } from '../../../../schemas/site.ts'
import type { Call } from '../../../router/call.ts'
import type { TransportContext } from '../../shared/transport-context.ts'
import { type ArdEntry, ardEntry } from './entry.ts'
import { pathOf, readFilter, type SearchFilters } from './filter.ts'
import { readListFilter } from './list-filter.ts'
import { ExploreRequest, ListRequest, SearchRequest } from './requests.ts'

/** What the endpoints need of the gateway. */
export interface ArdContext extends TransportContext {
  readonly site: () => Site
}

const defaultPage = 10
const defaultBuckets = 20

/** Agents that the filter excludes altogether need no search. */
const empty: AgentPage = { agents: [], total: 0, next_cursor: null }

/** Sends `search_agents` to the registry agent. */
export async function searchAgents(
  { dispatch }: Pick<ArdContext, 'dispatch'>,
  params: JsonObject,
  call: Call,
  filters: SearchFilters = {},
): Promise<AgentPage> {
  if (filters === 'nothing') return empty
  const envelope = {
    to: registryName,
    action: 'search_agents',
    params: { ...params, filters } as JsonObject,
  }
  return (await dispatch(envelope, call)).output as unknown as AgentPage
}

/** `POST /search` (section 7.2). */
export async function search(context: ArdContext, body: unknown, call: Call): Promise<object> {
  const { query, pageSize, pageToken, federation } = SearchRequest.parse(body)
  const site = context.site()
  const mode = federation ?? 'auto'
  const params = {
    query: query.text,
    limit: pageSize ?? defaultPage,
    discovery: true,
    federation: mode,
    ...(pageToken && { cursor: pageToken }),
  }
  const filters = readFilter(query.filter ?? {}, site)
  const isForOthers = filters === 'nothing' && mode === 'referrals'
  const found = isForOthers
    ? { ...empty, ...othersOf(await searchAgents(context, { ...params, limit: 1 }, call)) }
    : await searchAgents(context, params, call, filters)
  const { others = [], upstreams = [], next_cursor } = found
  const source = `${site.base_url}/ard`
  const results: object[] = found.agents.map((agent) => ({
    ...withoutQueries(ardEntry(agent, site, agent.discovery)),
    score: scoreOf(agent),
    source,
  }))
  for (const other of others) results.splice(other.position, 0, foreignResult(other))
  return {
    results,
    ...(mode === 'referrals' && { referrals: upstreams.map(({ url }) => registryEntry(url)) }),
    ...(next_cursor !== null && { pageToken: next_cursor }),
  }
}

/** The other registries alone: what this one cannot have, they may. */
function othersOf({ upstreams }: AgentPage): Pick<AgentPage, 'upstreams'> {
  return { upstreams }
}

/** Results carry what selection needs (section 7.2); the lookup has the whole entry. */
function withoutQueries({ representativeQueries: _, ...entry }: ArdEntry): ArdEntry {
  return entry
}

function scoreOf({ score = 0 }: SearchHit): number {
  return Math.round(Math.min(1, Math.max(0, score)) * 100)
}

function foreignResult(agent: ForeignAgent): object {
  const { identifier, name, description, type, url, version, updated_at, tags, score, source } = agent
  return {
    identifier,
    displayName: name,
    type,
    url,
    ...(description !== '' && { description }),
    ...(tags.length > 0 && { tags }),
    ...(version !== undefined && { version }),
    ...(updated_at !== undefined && { updatedAt: updated_at }),
    ...(agent.content_flags && { metadata: { contentFlags: agent.content_flags } }),
    score,
    source,
  }
}

/** `POST /explore` (section 7.3): counts over all agents that match, never over those of other registries. */
export async function explore(context: ArdContext, body: unknown, call: Call): Promise<object> {
  const { query, resultType } = ExploreRequest.parse(body)
  const site = context.site()
  const requested = resultType.facets.map((facet) => ({ ...facet, row: pathOf(facet.field) }))
  const params = { limit: 1, facets: true, ...(query?.text && { query: query.text }) }
  const found = await searchAgents(context, params, call, readFilter(query?.filter ?? {}, site))
  const facets = requested.map(({ field, limit, minCount, row }) => {
    const counts = found.facets?.[row.facet as FacetName] ?? {}
    const buckets = bucketsOf(field, counts, site).filter(({ count }) => count >= (minCount ?? 1))
    const shown = buckets.slice(0, limit ?? defaultBuckets)
    const otherCount = buckets.slice(shown.length).reduce((sum, { count }) => sum + count, 0)
    return [field, { buckets: shown, ...(otherCount > 0 && { otherCount }) }]
  })
  return { resultType: 'facets', facets: Object.fromEntries(facets) }
}

interface Bucket {
  readonly value: string
  readonly count: number
}

/** Values of the registry in the words of ARD; values that are the same word there are one bucket. */
function bucketsOf(field: string, counts: Readonly<Record<string, number>>, site: Site): Bucket[] {
  const own = publisherOf(site.base_url)
  const sums = new Map<string, number>()
  for (const [stated, count] of Object.entries(counts)) {
    const value =
      field === 'type' ? typeOfProtocol(stated) : field === 'publisher' && stated === 'none' ? own : stated
    sums.set(value, (sums.get(value) ?? 0) + count)
  }
  return [...sums].map(([value, count]) => ({ value, count })).sort((a, b) => b.count - a.count)
}

/** `GET /agents/IDENTIFIER`: the whole entry, of this registry alone. Throws Failure `invalid_request` and `not_found`. */
export async function lookUp(context: ArdContext, text: string, call: Call): Promise<ArdEntry> {
  const identifier = readIdentifier(text)
  if (!identifier) {
    throw new Failure('invalid_request', 'This is not an identifier of the form urn:air:PUBLISHER:…:NAME.')
  }
  const site = context.site()
  const own = publisherOf(site.base_url)
  const found: EntryDetail[] = []
  for (const name of packageNamesFor(identifier)) {
    const entry = await entryOf(context, name, call)
    if (entry?.state === 'ACTIVE' && entry.suspended === null) found.push(entry)
  }
  const entry = found.find((candidate) => identifierOf(candidate, own) === text)
  if (entry) return ardEntry(entry, site, discoveryOf(entry))
  const [other] = found
  throw unknown(other && `The agent ${other.package_name} has the identifier ${identifierOf(other, own)}.`)
}

function unknown(hint?: string): Failure {
  return new Failure('not_found', 'No agent has this identifier here.', hint ? { hint } : {})
}

async function entryOf(
  { dispatch }: ArdContext,
  agent: string,
  call: Call,
): Promise<EntryDetail | undefined> {
  try {
    const { output } = await dispatch({ to: registryName, action: 'get_agent', params: { agent } }, call)
    return output as unknown as EntryDetail
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.code === 'not_found') return undefined
    throw thrown
  }
}

const orders: ReadonlyMap<string, 'newest' | 'name'> = new Map([
  ['createdat desc', 'newest'],
  ['created_at desc', 'newest'],
  ['displayname', 'name'],
  ['name', 'name'],
])

/** `GET /agents` (section 7.4): whole entries, the newest first unless `orderBy` says otherwise. */
export async function list(context: ArdContext, query: URLSearchParams, call: Call): Promise<object> {
  const { filter, orderBy, pageSize, pageToken } = ListRequest.parse(Object.fromEntries(query))
  const { created_after, ...stated } = filter ? readListFilter(filter) : { filter: {} }
  const sort = orderBy === undefined ? 'newest' : orders.get(orderBy.trim().toLowerCase())
  if (!sort) throw new Failure('invalid_request', 'orderBy is createdAt DESC or displayName.')
  if (created_after !== undefined && sort !== 'newest') {
    throw new Failure('invalid_request', 'createdAfter needs orderBy createdAt DESC.')
  }
  const site = context.site()
  const params = { limit: pageSize, sort, discovery: true, ...(pageToken && { cursor: pageToken }) }
  const found = await searchAgents(context, params, call, readFilter(stated.filter, site))
  const isRecent = ({ created_at }: SearchHit) => Date.parse(created_at) > (created_after ?? 0)
  const recent = found.agents.filter(isRecent)
  const isEnd = recent.length < found.agents.length || found.next_cursor === null
  return {
    items: recent.map((agent) => ardEntry(agent, site, agent.discovery)),
    ...(created_after === undefined && { total: found.total }),
    ...(!isEnd && { pageToken: found.next_cursor }),
  }
}
