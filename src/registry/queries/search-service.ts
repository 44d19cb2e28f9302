import { type BriefHit, charactersPerToken, fittingConfidence, lengthOf } from '../../../schemas/brief.ts'
import type { EntryDetail } from '../../../schemas/card.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { Principal } from '../../../schemas/scope.ts'
import type {
  AgentPage,
  BriefAgentPage,
  NameCompletion,
  SearchInput,
  SearchQuery,
  Suggestions,
} from '../../../schemas/search.ts'
import { type Eventual, withValue } from '../../common/eventual.ts'
import type { SearchIndex } from '../../search/search-index.ts'
import type { Reader } from '../../store/store.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import { asksForCredential, type CredentialMarks, noCredentialMarks } from '../entry/credential-marks.ts'
import { entryBytes, maxEntryBytes } from '../entry/entry-size.ts'
import { isAdmin, isVisible, mayRead, type Owned } from '../entry/permissions.ts'
import { toReference, unlisted } from '../entry/reference.ts'
import type { Views } from '../entry/view.ts'
import type { LivenessCache } from '../liveness/liveness-cache.ts'
import { briefPage, type RankedEntry } from './brief-page.ts'
import { closeNames } from './close-names.ts'
import { encodePosition } from './cursor.ts'
import { FullPages } from './full-pages.ts'
import { type FreshnessOptions, IndexFreshness } from './index-freshness.ts'
import { toIndexQuery } from './index-query.ts'
import { lacksCallable, noneAtOnce, noticeOf, othersAtOnce } from './notices.ts'
import { rankedEntries } from './ranked-entries.ts'
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

/** Size up to which a brief answer has schemas if its caller states none. */
const briefTokens = 4000

/** Maximum number of agents that can be called at once beside others that cannot, and their share of the size. */
const maxCallable = 2
const callableShare = 1 / 3
/** What needs neither an approval nor a credential. */
const callableAtOnce = ['hosted', 'open', 'stated'] as const

export interface SearchServiceOptions extends Omit<FreshnessOptions, 'reader'> {
  readonly reader: Reader
  readonly index: SearchIndex
  readonly views: Views
  readonly livenessCache: Pick<LivenessCache, 'swept'>
  readonly credentialMarks?: CredentialMarks
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
  readonly #freshness: IndexFreshness
  readonly #views: Views
  readonly #livenessCache: Pick<LivenessCache, 'swept'>
  readonly #credentialMarks: CredentialMarks
  readonly #fullPages = new FullPages()
  readonly #pages = new WeakMap<object, PageFacts>()
  readonly #cache = createSearchCache<AgentPage | BriefAgentPage>(
    cachedCharacters,
    ({ agents, ...found }) => this.#fullPages.lengthOf(agents) + JSON.stringify(found).length,
  )

  constructor(options: SearchServiceOptions) {
    const { reader, index, views, livenessCache, credentialMarks = noCredentialMarks } = options
    this.#reader = reader
    this.#index = index
    this.#freshness = new IndexFreshness(options)
    this.#views = views
    this.#livenessCache = livenessCache
    this.#credentialMarks = credentialMarks
  }

  search(input: SearchQuery, caller: Caller, signal: AbortSignal): Promise<AgentPage> {
    return this.#cached('full', input, caller, async () => {
      const pageOf = (ranked: readonly RankedEntry[], characters: number) =>
        this.#fullPages.of(ranked, characters, input.discovery)
      const { next_cursor = null, ...found } = await this.#find(input, caller, signal, pageOf)
      return { ...found, next_cursor }
    })
  }

  /** The same search for language models: with the best actions of each agent, without what does not serve a call. */
  async searchBrief(
    input: SearchQuery,
    caller: Caller,
    signal: AbortSignal,
    approved: ReadonlySet<string>,
  ): Promise<BriefAgentPage> {
    const characters = (input.max_tokens ?? briefTokens) * charactersPerToken
    const found = await this.#cached('brief', input, caller, async () => {
      let pageWith = (_schemaCharacters: number): BriefHit[] => []
      const found = await this.#find(input, caller, signal, (ranked, pageCharacters) => {
        pageWith = (schemaCharacters) => briefPage(ranked, pageCharacters, schemaCharacters)
        return pageWith(characters)
      })
      if (!lacksCallable(input, found.agents)) return found
      const callable_agents = await this.#callableAtOnce(input, caller, signal, characters * callableShare)
      const left = characters - lengthOf(callable_agents)
      const agents = pageWith(left)
      const isTooLong = input.max_tokens !== undefined && lengthOf(agents) > left
      if (callable_agents.length === 0 || isTooLong) return { ...found, notice: found.notice ?? noneAtOnce }
      this.#pages.set(agents, this.#factsOf(found.agents, callable_agents))
      return { ...found, agents, callable_agents, notice: found.notice ?? othersAtOnce }
    })
    return approved.size > 0 ? withApproved(found, approved) : found
  }

  /** The best agents that fit and can be called at once. */
  async #callableAtOnce(
    input: SearchQuery,
    caller: Caller,
    signal: AbortSignal,
    characters: number,
  ): Promise<BriefHit[]> {
    const atOnce = {
      ...input,
      limit: maxCallable,
      facets: false,
      filters: { ...input.filters, callable: [...callableAtOnce] },
    }
    const { agents } = await this.#find(atOnce, caller, signal, (ranked) =>
      briefPage(
        ranked.filter(({ reasons }) => (reasons?.confidence ?? 0) >= fittingConfidence),
        characters,
        characters,
      ),
    )
    return agents
  }

  /** What callers may see of several pages. */
  #factsOf(...pages: readonly object[]): PageFacts {
    const facts = pages.flatMap((page) => this.#pages.get(page) ?? [])
    return { entries: facts.flatMap(({ entries }) => entries), asks: facts.some(({ asks }) => asks) }
  }

  /** Throws Failure `not_found` with close names if this caller may not know of the entry. */
  async get(agent: string, caller: Caller): Promise<EntryDetail> {
    return this.#views.detail(await this.stored(agent, caller), caller)
  }

  /** The entry as stored. Throws as `get` does. */
  stored(agent: string, caller: Caller): Eventual<StoredEntry> {
    return withValue(caller ? this.#reader.latest() : undefined, () => this.#entry(agent, caller))
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
    await this.#freshness.hasStarted()
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

  /**
   * Answers are cached while the store's revision equals the revision that the index has applied: one for anonymous
   * callers, and one for all callers with a token who own nothing in it and have stored no credential that it shows.
   */
  async #cached<Output extends AgentPage | BriefAgentPage>(
    detail: SearchInput['detail'],
    input: SearchQuery,
    caller: Caller,
    find: () => Promise<Output>,
  ): Promise<Output> {
    const freshness = this.#freshness
    if (!(await freshness.hasStarted())) {
      // Readers of a list would take what is missing for removed.
      if (input.query === undefined) throw new Failure('unavailable', starting, { retry_after_s: 5 })
      return { ...(await find()), degraded: starting }
    }
    const revision = caller ? await freshness.upToDate() : await this.#reader.revision()
    const findNow = () => freshness.catchingUp(revision, find)
    if (input.filters?.mine || isAdmin(caller) || !freshness.isSettledAt(revision)) return await findNow()
    const question = JSON.stringify([detail, input, freshness.model, caller !== null])
    const state = `${revision}.${this.#livenessCache.swept}`
    const cached = this.#cache.recall(question, state)
    // The question states the form of the answer.
    if (cached && !(await this.#isForCaller(cached, caller))) return cached as Output
    const found = await findNow()
    if (found.degraded !== undefined || !freshness.isSettledAt(revision)) return found
    if (!(await this.#isForCaller(found, caller))) this.#cache.offer(question, state, found)
    return found
  }

  /** True if an answer shows the caller something that others do not see. */
  async #isForCaller({ agents }: AgentPage | BriefAgentPage, caller: Caller): Promise<boolean> {
    const facts = this.#pages.get(agents)
    if (!caller || !facts) return false
    if (facts.entries.some((entry) => mayRead(caller, entry))) return true
    return facts.asks && (await this.#credentialMarks.hasStored(caller))
  }

  /** `pageOf` shows the first agents that fit into so many characters, at least one. */
  async #find<Shown>(
    input: SearchQuery,
    caller: Caller,
    signal: AbortSignal,
    pageOf: (ranked: readonly RankedEntry[], characters: number) => Shown[],
  ) {
    const { limit, max_tokens } = input
    const hasText = input.query !== undefined
    const { query, question } = toIndexQuery(input, caller)
    const found = await this.#index.search(query, signal)
    const ranked = await rankedEntries(found.hits.slice(0, limit), hasText, caller, {
      reader: this.#reader,
      views: this.#views,
      credentialMarks: this.#credentialMarks,
    })
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
    const notice = hasText ? noticeOf(found, input.filters) : undefined
    const degraded = found.degraded ?? this.#freshness.missing(hasText)
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

  #entry(agent: string, caller: Caller): Eventual<StoredEntry> {
    return withValue(this.#reader.entry(toReference(agent)), (entry) =>
      entry && isVisible(entry, caller) ? entry : this.#notFound(agent),
    )
  }

  async #notFound(agent: string): Promise<never> {
    // Without the index, the answer is still that there is no such agent.
    const close = await this.#closeNames(agent).catch(() => [])
    const hint = 'search_agents finds agents by what they do.'
    throw unlisted(agent, close.length > 0 ? { nearest: close } : { hint })
  }

  async #closeNames(agent: string): Promise<readonly string[]> {
    await this.#freshness.hasStarted()
    return await closeNames(agent, this.#index, this.#reader)
  }
}

/** The page with what the operator has approved, as approvals change without a revision of the registry. */
function withApproved(found: BriefAgentPage, approved: ReadonlySet<string>): BriefAgentPage {
  const isApproved = ({ callable, package_name }: BriefAgentPage['agents'][number]) =>
    callable === 'package' && approved.has(package_name)
  if (!found.agents.some(isApproved)) return found
  const { notice, ...page } = found
  return {
    ...page,
    agents: found.agents.map((hit) => (isApproved(hit) ? { ...hit, approved: true } : hit)),
    ...(notice !== undefined && notice !== noneAtOnce && { notice }),
  }
}
