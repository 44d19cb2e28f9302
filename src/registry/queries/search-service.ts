import type { EntryDetail, Found } from '../../../schemas/card.ts'
import { filterFields, filters, mapFields } from '../../../schemas/entry-fields.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { Principal } from '../../../schemas/scope.ts'
import type { NameCompletion, SearchInput, SearchOutput } from '../../../schemas/search.ts'
import { principalKey } from '../../common/principal-key.ts'
import type { Filter, Hit, Hits, SearchIndex } from '../../search/search-index.ts'
import type { Reader, StoredEntry } from '../../store/store.ts'
import { isVisible } from '../entry/permissions.ts'
import { toReference } from '../entry/reference.ts'
import type { Views } from '../entry/view.ts'
import type { Follower } from '../indexing/index-tailer.ts'
import type { VectorIndexSwitch } from '../indexing/vector-index-switch.ts'
import { emptyLivenessCache, type LivenessCache } from '../liveness/liveness-cache.ts'
import { decodeCursor, encodeCursor } from './cursor.ts'
import { createSearchCache } from './search-cache.ts'

type Caller = Principal | null

/** Names that a completion counts. */
const maxCounted = 1000

/** Characters of JSON in remembered answers. */
const rememberedCharacters = 16_000_000

/** The reads of the registry. */
export interface Finder {
  search(input: SearchInput, caller: Caller, signal: AbortSignal): Promise<SearchOutput>
  /** Throws Failure `not_found` with close names where this caller may not know of the entry. */
  get(agent: string, caller: Caller): Promise<EntryDetail>
  /** Listed package names that begin with a prefix, in order; `total` is null where there are very many. */
  completeName(prefix: string, limit: number): Promise<NameCompletion>
  /** The same as the truth holds it. */
  stored(agent: string, caller: Caller): Promise<StoredEntry>
  /** The same as `get`, of what this process has just written: what others have written since is not asked for. */
  written(id: string, caller: Caller): Promise<EntryDetail>
}

export interface FinderOptions {
  readonly reader: Reader
  readonly index: SearchIndex
  readonly follower: Follower
  readonly dense?: Pick<VectorIndexSwitch, 'ready' | 'progress'> | undefined
  readonly views: Views
  readonly livenessCache?: Pick<LivenessCache, 'swept'>
}

export function createFinder({
  reader,
  index,
  follower,
  dense,
  views,
  livenessCache = emptyLivenessCache,
}: FinderOptions): Finder {
  const cache = createSearchCache<SearchOutput>(rememberedCharacters, (found) => JSON.stringify(found).length)

  /** What everybody may see is remembered for as long as the truth stands where the index does. */
  async function search(input: SearchInput, caller: Caller, signal: AbortSignal): Promise<SearchOutput> {
    await Promise.all([follower.ready, dense?.ready])
    const revision = caller ? await upToDate() : await reader.revision()
    if (caller || !isSettledAt(revision)) return searchAnew(input, caller, signal)
    const question = JSON.stringify([input, dense?.progress().model])
    const state = `${revision}.${livenessCache.swept}`
    const cached = cache.recall(question, state)
    if (cached) return cached
    const found = await searchAnew(input, caller, signal)
    if (found.degraded !== undefined || !isSettledAt(revision)) return found
    return cache.offer(question, state, found)
  }

  /** Who may have written, at whichever gateway, finds it at this one. */
  async function upToDate(): Promise<number> {
    const revision = await reader.latest()
    await follower.caughtUp(revision)
    return revision
  }

  function isSettledAt(revision: number): boolean {
    return [follower, dense?.progress()].every(
      (derived) => (derived?.applied_revision ?? revision) === revision,
    )
  }

  async function searchAnew(input: SearchInput, caller: Caller, signal: AbortSignal): Promise<SearchOutput> {
    const { query: text, limit, sort, facets, min_score, max_tokens } = input
    const filter = toFilter(input.filters ?? {}, caller)
    const question = [text ?? '', filter, sort, ...(min_score === undefined ? [] : [min_score])]
    const after = input.cursor === undefined ? undefined : decodeCursor(input.cursor, question)
    const found = await index.search(
      {
        limit: limit + 1,
        sort,
        facets,
        filter,
        ...(text !== undefined && { text }),
        ...(min_score !== undefined && { min_score }),
        ...(after && { after }),
      },
      signal,
    )
    const shown = await show(found.hits.slice(0, limit), caller, text !== undefined)
    const page = max_tokens === undefined ? shown : within(max_tokens, shown)
    const last = page === shown ? found.hits[limit - 1] : found.hits.find((hit) => hit.id === page.at(-1)?.id)
    const notice = text === undefined ? undefined : noticeOf(found)
    return {
      agents: page,
      total: found.total,
      next_cursor: last && found.hits.at(-1) !== last ? encodeCursor(last.position, question) : null,
      ...(found.facets && { facets: found.facets }),
      ...(notice !== undefined && { notice }),
      ...(found.degraded !== undefined && { degraded: found.degraded }),
    }
  }

  /** Whatever the index says, only what the truth lets this caller see leaves. */
  async function show(hits: readonly Hit[], caller: Caller, ranked: boolean): Promise<Found[]> {
    const entries = await reader.entries(hits.map((hit) => hit.id))
    const byId = new Map(entries.map((entry) => [entry.id, entry]))
    return hits.flatMap((hit) => {
      const entry = byId.get(hit.id)
      if (!entry || !isVisible(entry, caller)) return []
      const view = views.entry(entry, caller)
      return ranked ? { ...view, score: hit.score, match: hit.why } : view
    })
  }

  async function stored(agent: string, caller: Caller): Promise<StoredEntry> {
    if (caller) await reader.latest()
    return await find(agent, caller)
  }

  async function find(agent: string, caller: Caller): Promise<StoredEntry> {
    const entry = await reader.entry(toReference(agent))
    if (entry && isVisible(entry, caller)) return entry
    const close = await suggest(agent)
    throw new Failure(
      'not_found',
      `No agent is listed as ${agent}.`,
      close.length > 0 ? { nearest: close } : {},
    )
  }

  /** Package names close to one that is not listed. */
  async function suggest(name: string): Promise<readonly string[]> {
    await follower.ready
    const query = {
      text: name,
      filter: { state: 'ACTIVE' },
      limit: 3,
      sort: 'relevance',
      words_only: true,
    } as const
    const { hits } = await index.search(query, new AbortController().signal)
    const entries = await reader.entries(hits.map((hit) => hit.id))
    return entries.filter((entry) => isVisible(entry, null)).map((entry) => entry.package_name)
  }

  async function completeName(prefix: string, limit: number): Promise<NameCompletion> {
    const names = await reader.listedNames(prefix.toLowerCase(), maxCounted + 1)
    const total = names.length > maxCounted ? null : names.length
    return { names: names.slice(0, limit), total, more: names.length > limit }
  }

  return {
    search,
    stored,
    completeName,
    get: async (agent, caller) => views.detail(await stored(agent, caller), caller),
    written: async (id, caller) => views.detail(await find(id, caller), caller),
  }
}

/** What scores less at best answers no intent that was meant. */
const fitting = 0.25

function noticeOf({ total, best = 0 }: Hits): string | undefined {
  if (total === 0) return 'No agent fits this. Say it in other words, or list agents without a query.'
  return best < fitting ? 'No agent fits this well; these are the nearest.' : undefined
}

const charactersPerToken = 4

/** As many of the first agents as fit, at least one; the same array where all do. */
function within(tokens: number, agents: Found[]): Found[] {
  let left = tokens * charactersPerToken
  const fit = agents.findIndex((agent) => {
    left -= JSON.stringify(agent).length
    return left < 0
  })
  return fit < 0 ? agents : agents.slice(0, Math.max(1, fit))
}

/** The filters of a search as the index has them: by field, an owner by key, `ACTIVE` alone unless they are the caller's. */
function toFilter(input: NonNullable<SearchInput['filters']>, caller: Caller): Filter {
  const values: Readonly<Record<string, unknown>> = input
  const present = filterFields.filter((field) => values[filters[field].name] !== undefined)
  const filter: Filter = mapFields(present, (field) => values[filters[field].name]) as Filter
  const { owner: _, ...common } = filter
  if (!input.mine) {
    if (input.state === 'STAGE') throw needsMine()
    return { ...common, state: 'ACTIVE' }
  }
  if (!caller) throw new Failure('unauthenticated', 'Asking for your own agents needs a bearer token.')
  return { ...common, owner: principalKey(caller) }
}

function needsMine(): Failure {
  return new Failure('invalid_request', 'Agents in STAGE are seen by their owner alone.', {
    errors: [{ pointer: '/filters/state', detail: 'Ask with mine: true.' }],
  })
}
