import { setTimeout as pause } from 'node:timers/promises'
import { charactersPerToken, fittingConfidence } from '../../../schemas/brief.ts'
import type { Alternative, EntryDetail, Found } from '../../../schemas/card.ts'
import { discoveryOf } from '../../../schemas/discovery.ts'
import { type FilterField, filterFields, filters, mapFields } from '../../../schemas/entry-fields.ts'
import { Failure } from '../../../schemas/failure.ts'
import { nearest } from '../../../schemas/nearest.ts'
import type { Principal } from '../../../schemas/scope.ts'
import type {
  BriefSearchOutput,
  NameCompletion,
  SearchInput,
  SearchOutput,
  SearchQuery,
  Suggestions,
} from '../../../schemas/search.ts'
import { fitting } from '../../common/fitting.ts'
import { principalKey } from '../../common/principal-key.ts'
import type { Filter, Hit, Hits, SearchIndex } from '../../search/search-index.ts'
import type { Reader, StoredEntry } from '../../store/store.ts'
import { asksForCredential, type CredentialMarks, noCredentialMarks } from '../entry/credential-marks.ts'
import { entryBytes, maxEntryBytes } from '../entry/entry-size.ts'
import { isAdmin, isVisible, mayRead, type Owned } from '../entry/permissions.ts'
import { toReference } from '../entry/reference.ts'
import type { Views } from '../entry/view.ts'
import type { IndexTailer } from '../indexing/index-tailer.ts'
import type { VectorIndexSwitch } from '../indexing/vector-index-switch.ts'
import { emptyLivenessCache, type LivenessCache } from '../liveness/liveness-cache.ts'
import { briefPage, type RankedEntry } from './brief-page.ts'
import { decodePosition, encodePosition } from './cursor.ts'
import { createSearchCache } from './search-cache.ts'

type Caller = Principal | null

/** Maximum number of names that a completion counts. */
const maxCounted = 1000

const separators = /[^\p{L}\p{M}\p{N}]+/gu

/** Fewer characters than a completion compares inside of names. */
const minJoined = 3

const starting = 'The gateway is starting: its index does not have all agents yet.'

/** Maximum characters of the agents of one page: every transport answers with at most 1 MiB. */
const maxPageCharacters = 768 * 1024

/** Maximum characters of JSON in cached answers. */
const cachedCharacters = 16_000_000

export interface SearchServiceOptions {
  readonly reader: Reader
  readonly index: SearchIndex
  readonly follower: Pick<IndexTailer, 'ready' | 'applied_revision' | 'caughtUp' | 'is_failing'>
  readonly vectors?: Pick<VectorIndexSwitch, 'ready' | 'progress' | 'caughtUp' | 'is_failing'> | undefined
  readonly views: Views
  readonly livenessCache?: Pick<LivenessCache, 'swept'>
  readonly credentialMarks?: CredentialMarks
  /** Maximum time for which a search waits until the index holds what was committed at the start; without limit when absent. */
  readonly start_wait_ms?: number | undefined
}

/** A page of agents at one revision of the registry, and what callers may see of it. */
interface PageFacts {
  readonly entries: readonly Owned[]
  /** True if one of the agents asks for a credential. */
  readonly asks: boolean
}

/** The reads of the registry. */
export class SearchService {
  readonly #reader: Reader
  readonly #index: SearchIndex
  readonly #follower: SearchServiceOptions['follower']
  readonly #vectors: SearchServiceOptions['vectors']
  readonly #views: Views
  readonly #livenessCache: Pick<LivenessCache, 'swept'>
  readonly #credentialMarks: CredentialMarks
  readonly #start_wait_ms: number | undefined
  /** Resolves once the index holds what was committed at the start. */
  readonly #started: Promise<void>
  #isStarted = false
  readonly #lengths = new WeakMap<object, number>()
  readonly #pages = new WeakMap<object, PageFacts>()
  readonly #cache = createSearchCache<SearchOutput | BriefSearchOutput>(
    cachedCharacters,
    ({ agents, ...found }) => this.#lengthOf(agents) + JSON.stringify(found).length,
  )

  constructor({ livenessCache = emptyLivenessCache, ...options }: SearchServiceOptions) {
    this.#reader = options.reader
    this.#index = options.index
    this.#follower = options.follower
    this.#vectors = options.vectors
    this.#views = options.views
    this.#livenessCache = livenessCache
    this.#credentialMarks = options.credentialMarks ?? noCredentialMarks
    this.#start_wait_ms = options.start_wait_ms
    this.#started = Promise.all([options.follower.ready, options.vectors?.ready]).then(() => {
      this.#isStarted = true
    })
  }

  search(input: SearchQuery, caller: Caller, signal: AbortSignal): Promise<SearchOutput> {
    return this.#cached('full', input, caller, async () => {
      const pageOf = (ranked: readonly RankedEntry[], characters: number) =>
        this.#fullPage(ranked, characters, input.discovery)
      const { next_cursor = null, ...found } = await this.#find(input, caller, signal, pageOf)
      return { ...found, next_cursor }
    })
  }

  /** The same search for language models: with the best actions of each agent, without what does not serve a call. */
  searchBrief(input: SearchQuery, caller: Caller, signal: AbortSignal): Promise<BriefSearchOutput> {
    const { max_tokens = briefTokens } = input
    return this.#cached('brief', input, caller, async () => {
      const found = await this.#find(input, caller, signal, (ranked, characters) =>
        briefPage(ranked, characters, max_tokens * charactersPerToken),
      )
      const notice = found.notice ?? noCallable(input, found.agents)
      return { ...found, ...(notice !== undefined && { notice }) }
    })
  }

  /**
   * Answers are cached while the store's revision equals the revision that the index has applied: one for anonymous
   * callers, and one for all callers with a token who own nothing in it and have stored no credential that it shows.
   */
  async #cached<Output extends SearchOutput | BriefSearchOutput>(
    detail: SearchInput['detail'],
    input: SearchQuery,
    caller: Caller,
    find: () => Promise<Output>,
  ): Promise<Output> {
    if (!(await this.#hasStarted())) {
      // Readers of a list would take what is missing for removed.
      if (input.query === undefined) throw new Failure('unavailable', starting, { retry_after_s: 5 })
      return { ...(await find()), degraded: starting }
    }
    const revision = caller ? await this.#upToDate() : await this.#reader.revision()
    const findNow = () => this.#catchingUp(revision, find)
    if (input.filters?.mine || isAdmin(caller) || !this.#isSettledAt(revision)) return await findNow()
    const question = JSON.stringify([detail, input, this.#vectors?.progress().model, caller !== null])
    const state = `${revision}.${this.#livenessCache.swept}`
    const cached = this.#cache.recall(question, state)
    // The question states the form of the answer.
    if (cached && !(await this.#isForCaller(cached, caller))) return cached as Output
    const found = await findNow()
    if (found.degraded !== undefined || !this.#isSettledAt(revision)) return found
    if (!(await this.#isForCaller(found, caller))) this.#cache.offer(question, state, found)
    return found
  }

  /** False if the index does not hold what was committed at the start within the time to wait. */
  async #hasStarted(): Promise<boolean> {
    if (this.#isStarted) return true
    const waits = [this.#started]
    if (this.#start_wait_ms !== undefined) waits.push(pause(this.#start_wait_ms, undefined, { ref: false }))
    await Promise.race(waits)
    return this.#isStarted
  }

  /** True if an answer shows the caller something that others do not see. */
  async #isForCaller({ agents }: SearchOutput | BriefSearchOutput, caller: Caller): Promise<boolean> {
    const facts = this.#pages.get(agents)
    if (!caller || !facts) return false
    if (facts.entries.some((entry) => mayRead(caller, entry))) return true
    return facts.asks && (await this.#credentialMarks.hasStored(caller))
  }

  /** Throws Failure `not_found` with close names if this caller may not know of the entry. */
  async get(agent: string, caller: Caller): Promise<EntryDetail> {
    return this.#views.detail(await this.stored(agent, caller), caller)
  }

  /** The entry as stored. Throws as `get` does. */
  stored(agent: string, caller: Caller): Promise<StoredEntry> {
    if (!caller) return this.#entry(agent, caller)
    return this.#reader.latest().then(() => this.#entry(agent, caller))
  }

  /** Like `get`, after a write of this process: does not check for later writes of other processes. */
  async written(id: string, caller: Caller): Promise<EntryDetail> {
    const stored = await this.#entry(id, caller)
    // What was stored before the bound may be longer than any answer, and the write has happened.
    const shown = entryBytes(stored) <= maxEntryBytes ? stored : { ...stored, capabilities: [], card: null }
    return this.#views.detail(shown, caller)
  }

  /** Listed package names that begin with a prefix and are behind a name, in order; `total` is null if there are more than `maxCounted`. */
  async completeName(prefix: string, limit: number, after = ''): Promise<NameCompletion> {
    const names = await this.#reader.listedNames(prefix.toLowerCase(), maxCounted + 1, after)
    const total = names.length > maxCounted ? null : names.length
    return { names: names.slice(0, limit), total, more: names.length > limit }
  }

  /**
   * Names of listed agents that have a text, the best first, each once in any case; where they are few, also those that
   * have its words written as one.
   */
  async suggest(text: string, limit: number): Promise<Suggestions> {
    await this.#hasStarted()
    // Agents of several sources have the same name.
    const found = await this.#index.complete(text, 2 * limit)
    const joined = text.replace(separators, '')
    const isApart = found.length < limit && joined !== text && joined.length >= minJoined
    const ids = isApart ? [...found, ...(await this.#index.complete(joined, 2 * limit))] : found
    const entries = await this.#reader.entries(ids)
    const byId = new Map(entries.map((entry) => [entry.id, entry]))
    const names = new Map<string, Suggestions['suggestions'][number]>()
    for (const entry of ids.flatMap((id) => byId.get(id) ?? [])) {
      const { name, package_name } = entry
      const key = name.toLowerCase()
      if (isVisible(entry, null) && !names.has(key)) names.set(key, { name, package_name })
    }
    return { suggestions: [...names.values()].slice(0, limit) }
  }

  /** Waits until the index has applied every commit, so that callers find entries that they wrote through another gateway. */
  async #upToDate(): Promise<number> {
    const revision = await this.#reader.latest()
    await this.#follower.caughtUp(revision)
    return revision
  }

  /** An index elsewhere can lose changes, which a search is the first to see. */
  async #catchingUp<Output extends { readonly degraded?: string | undefined }>(
    revision: number,
    find: () => Promise<Output>,
  ): Promise<Output> {
    const catchUp = () => {
      void this.#follower.caughtUp(revision)
      void this.#vectors?.caughtUp(revision)
    }
    try {
      const found = await find()
      if (found.degraded !== undefined) catchUp()
      return found
    } catch (fault) {
      catchUp()
      throw fault
    }
  }

  #isSettledAt(revision: number): boolean {
    return [this.#follower, this.#vectors?.progress()].every(
      (derived) => (derived?.applied_revision ?? revision) === revision,
    )
  }

  /** `pageOf` shows the first agents that fit into so many characters, at least one. */
  async #find<Shown>(
    input: SearchQuery,
    caller: Caller,
    signal: AbortSignal,
    pageOf: (ranked: readonly RankedEntry[], characters: number) => Shown[],
  ) {
    const { query: text, limit, sort, facets, facet_choices, min_score, max_tokens, exact = false } = input
    const filter = toFilter(input.filters ?? {}, caller)
    const question = [
      text ?? '',
      filter,
      sort,
      ...(min_score === undefined ? [] : [min_score]),
      ...(exact ? ['exact'] : []),
    ]
    const after = input.cursor === undefined ? undefined : decodePosition(input.cursor, question)
    const query = {
      limit: limit + 1,
      sort,
      facets,
      ...(facet_choices && { facet_choices }),
      filter,
      ...(text !== undefined && { text }),
      ...(min_score !== undefined && { min_score }),
      ...(exact && { exact }),
      ...(after && { after }),
    }
    const found = await this.#index.search(query, signal)
    const ranked = await this.#ranked(found.hits.slice(0, limit), caller, text !== undefined)
    const tokens = (max_tokens ?? Number.POSITIVE_INFINITY) * charactersPerToken
    const page = pageOf(ranked, Math.min(maxPageCharacters, tokens))
    this.#pages.set(page, {
      entries: ranked.map(({ entry: { package_name, owner } }) => ({ package_name, owner })),
      asks: ranked.some(({ view }) => asksForCredential(view)),
    })
    const isWhole = page.length === ranked.length
    const lastShown = ranked[page.length - 1]
    const last = isWhole ? found.hits[limit - 1] : found.hits.find(({ id }) => id === lastShown?.view.id)
    const hasMore = last && found.hits.at(-1) !== last
    const notice = text === undefined ? undefined : noticeOf(found, input.filters)
    const degraded = found.degraded ?? this.#missingIn(text)
    return {
      agents: page,
      total: found.total,
      ...(hasMore && { next_cursor: encodePosition(last.position, question) }),
      ...(found.facets && { facets: found.facets }),
      ...(notice !== undefined && { notice }),
      ...(found.corrected && { corrected: [...found.corrected] }),
      ...(degraded !== undefined && { degraded }),
    }
  }

  /** What an answer may lack, if it lacks anything. */
  #missingIn(text: string | undefined): string | undefined {
    const vectors = text === undefined ? undefined : this.#vectors
    if (this.#follower.is_failing || vectors?.is_failing) return behind
    if (!vectors) return undefined
    const lag = this.#follower.applied_revision - vectors.progress().applied_revision
    return lag > maxLag ? embedding : undefined
  }

  /** The store, not the index, decides which entries this caller may see. */
  async #ranked(hits: readonly Hit[], caller: Caller, hasText: boolean): Promise<RankedEntry[]> {
    const entries = await this.#reader.entries(
      hits.flatMap(({ id, alternatives = [] }) => [id, ...alternatives]),
    )
    const byId = new Map(entries.map((entry) => [entry.id, entry]))
    const visible = hits.flatMap((hit) => {
      const entry = byId.get(hit.id)
      return entry && isVisible(entry, caller) ? { hit, entry } : []
    })
    const unmarked = visible.map(({ entry }) => this.#views.entry(entry, caller))
    const views = await this.#credentialMarks.mark(unmarked, caller)
    return visible.flatMap(({ hit, entry }, at) => {
      const view = views[at]
      if (!view) return []
      const others = (hit.alternatives ?? []).flatMap((id) => byId.get(id) ?? [])
      const alternatives = others.filter((other) => isVisible(other, null)).map(this.#alternative)
      return {
        view,
        entry,
        ...(hasText && { reasons: { score: hit.score, confidence: hit.confidence ?? 0, match: hit.why } }),
        ...(alternatives.length > 0 && { alternatives }),
      }
    })
  }

  readonly #alternative = (entry: StoredEntry): Alternative => {
    const { package_name, callable, origin } = this.#views.entry(entry, null)
    return { package_name, callable, source: origin?.source ?? null }
  }

  #fullPage(ranked: readonly RankedEntry[], maxCharacters: number, hasDiscovery = false): Found[] {
    const shown = ranked.map(({ view, entry, reasons, alternatives }) => {
      const more = {
        ...reasons,
        ...(alternatives && { alternatives }),
        ...(hasDiscovery && { discovery: discoveryOf(entry) }),
      }
      return { found: { ...view, ...more }, characters: this.#lengthOf(view) + JSON.stringify(more).length }
    })
    const page = fitting(shown, maxCharacters)
    const agents = page.map(({ found }) => found)
    this.#lengths.set(
      agents,
      page.reduce((sum, { characters }) => sum + characters, 0),
    )
    return agents
  }

  /** Characters of JSON, counted once: public views are the same objects in each answer. */
  #lengthOf(part: object): number {
    const characters = this.#lengths.get(part) ?? JSON.stringify(part).length
    this.#lengths.set(part, characters)
    return characters
  }

  async #entry(agent: string, caller: Caller): Promise<StoredEntry> {
    const entry = await this.#reader.entry(toReference(agent))
    if (entry && isVisible(entry, caller)) return entry
    // Without the index, the answer is still that there is no such agent.
    const close = await this.#suggest(agent).catch(() => [])
    const hint = 'search_agents finds agents by what they do.'
    throw new Failure(
      'not_found',
      `No agent is listed as ${agent}.`,
      close.length > 0 ? { nearest: close } : { hint },
    )
  }

  /** Package names close to one that is not listed. */
  async #suggest(name: string): Promise<readonly string[]> {
    await this.#hasStarted()
    const query = {
      filter: { state: 'ACTIVE' },
      limit: maxCandidates,
      sort: 'relevance',
      words_only: true,
    } as const
    // Many names share a namespace: the last part is looked for, spelling corrected, on its own as well.
    const texts = [name, lastPart(name)].filter((text) => text !== '')
    const signal = new AbortController().signal
    const found = await Promise.all(texts.map((text) => this.#index.search({ ...query, text }, signal)))
    const ids = new Set(found.flatMap(({ hits }) => hits.map(({ id }) => id)))
    const entries = await this.#reader.entries([...ids])
    const names = entries.filter((entry) => isVisible(entry, null)).map((entry) => entry.package_name)
    const close = names.filter((candidate) => nearest(lastPart(name), [lastPart(candidate)]).length > 0)
    return [...new Set([...nearest(name, close), ...close])].slice(0, maxSuggestions)
  }
}

/** Agents whose names are compared with one that is not listed. */
const maxCandidates = 20
const maxSuggestions = 3

/** The part of a name that its namespace does not state. */
function lastPart(name: string): string {
  return name.slice(name.search(/[^./]*$/))
}

const behind = 'The index cannot be brought up to date now: what changed lately may be missing here.'

/** Changes by which the search by meaning may be behind for a moment, as it is after each write. */
const maxLag = 100

const embedding =
  'Agents that were added last are found by their words alone so far: the search by meaning does not have them yet.'

/** Size up to which a brief answer has schemas if its caller states none. */
const briefTokens = 4000

function noticeOf({ total, confidence = 0 }: Hits, filters: SearchInput['filters'] = {}): string | undefined {
  if (total === 0) {
    const names = Object.entries(filters).flatMap(([name, value]) => (value === undefined ? [] : name))
    if (names.length === 0) return 'No agent fits this. Say it in other words.'
    return `No agent fits this with the filters ${names.join(', ')}. Search without them, or say it in other words.`
  }
  return confidence < fittingConfidence ? 'No agent fits this well; these are the nearest.' : undefined
}

/** What a model does when it can call none of the agents that it found. */
function noCallable(
  { query, filters = {} }: SearchQuery,
  agents: BriefSearchOutput['agents'],
): string | undefined {
  const isCallable = ({ callable }: Pick<EntryDetail, 'callable'>) =>
    callable !== 'package' && callable !== 'no'
  if (query === undefined || filters.callable || agents.length === 0 || agents.some(isCallable))
    return undefined
  return 'None of these can be called as it is. A `package` runs once the operator has approved it. The filter {"callable": ["hosted", "open", "stated"]} finds agents that can be called.'
}

/**
 * The filters of a search by index field: the owner by principal key, and `ACTIVE` unless callers ask for their own.
 */
function toFilter(input: NonNullable<SearchInput['filters']>, caller: Caller): Filter {
  if (!input.mine && input.state === 'STAGE') throw needsMine()
  if (input.mine && !caller)
    throw new Failure('unauthenticated', 'Asking for your own agents needs a bearer token.')
  const values: Readonly<Record<string, unknown>> = input
  const filterValue = (field: FilterField) => {
    if (field === 'owner') return input.mine && caller ? principalKey(caller) : undefined
    if (field === 'state' && !input.mine) return 'ACTIVE'
    return values[filters[field].name]
  }
  // Always in the order of the table: equal filters have equal cursors and cache keys.
  const present = filterFields.filter((field) => filterValue(field) !== undefined)
  return mapFields(present, filterValue) as Filter
}

function needsMine(): Failure {
  return new Failure('invalid_request', 'Only its owner sees an agent in STAGE.', {
    errors: [{ pointer: '/filters/state', detail: 'Ask with mine: true.' }],
  })
}
