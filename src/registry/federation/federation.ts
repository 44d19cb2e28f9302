import {
  identifierOf,
  packageNamesFor,
  publishedBy,
  publisherOf,
  typeOfProtocol,
} from '../../../schemas/ard.ts'
import { charactersPerToken, lengthOf } from '../../../schemas/brief.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { FederationMode, UpstreamReport } from '../../../schemas/federation.ts'
import type { AgentPage, BriefAgentPage, SearchQuery } from '../../../schemas/search.ts'
import type { Site } from '../../../schemas/site.ts'
import { abortable, linkSignals } from '../../common/abort.ts'
import type { Wait } from '../../common/clock.ts'
import type { AskUpstream } from '../../common/upstream.ts'
import { isListed } from '../../store/entries/version-content.ts'
import type { Reader } from '../../store/store.ts'
import { identified } from '../entry/protocol.ts'
import { type ForeignResult, merge } from './merge.ts'
import { maxAnswerBytes, readResults } from './read-results.ts'

/** Time within which all other registries must answer, in milliseconds. */
const budget_ms = 400

/** Maximum number of agents of each other registry: each is looked up here. */
const maxResults = 20

export interface FederationOptions {
  /** The bases of the ARD APIs of the other registries. */
  readonly upstreams: readonly string[]
  readonly ask: AskUpstream
  readonly reader: Pick<Reader, 'entry'>
  readonly site: () => Site
  readonly wait: Wait
}

/** What one of the other registries has answered. */
interface Answered {
  readonly results: readonly ForeignResult[]
  readonly report: UpstreamReport
}

/** Adds what other registries find to a search; `find` searches this registry for at most so many agents. */
type Federate = <Output extends AgentPage | BriefAgentPage>(
  input: SearchQuery,
  mode: FederationMode,
  find: (limit: number) => Promise<Output>,
  signal: AbortSignal,
) => Promise<Output>

export function createFederate(options: FederationOptions): Federate {
  const { upstreams } = options
  return async (input, mode, find, signal) => {
    const { limit, max_tokens } = input
    if (mode === 'none' || upstreams.length === 0) return await find(limit)
    if (mode === 'referrals') return { ...(await find(limit)), upstreams: upstreams.map(notAsked) }
    const question = questionFor(input, options.site().base_url)
    if (typeof question === 'string') {
      return { ...(await find(limit)), upstreams: upstreams.map((url) => skipped(url, question)) }
    }
    using asking = linkSignals(signal)
    const answers = askAll(options, question, Math.min(limit, maxResults), asking)
    answers.catch(() => {})
    const found = await find(limit).catch((thrown: unknown) => {
      asking.abort(thrown)
      throw thrown
    })
    const answered = await answers
    const { own, others } = merge(
      found.agents.length,
      answered.map(({ results }) => results),
      limit,
    )
    const shown = own < found.agents.length ? await find(own) : found
    const left =
      max_tokens === undefined ? undefined : max_tokens * charactersPerToken - lengthOf(shown.agents)
    const fitting = left === undefined ? others : within(left, others)
    const reports = answered.map(({ report }) => ({
      ...report,
      results: fitting.filter(({ source }) => source === report.url).length,
    }))
    return { ...shown, others: fitting, upstreams: reports }
  }
}

/** Asks all at once, each under its circuit; who has not answered when the budget is over is left out. */
async function askAll(
  options: FederationOptions,
  question: Question,
  limit: number,
  asking: ReturnType<typeof linkSignals>,
): Promise<readonly Answered[]> {
  const { upstreams, wait } = options
  using done = linkSignals(asking.signal)
  const late = () =>
    asking.abort(new Failure('upstream_timeout', `No answer within ${budget_ms} ms.`, { retryable: true }))
  wait(budget_ms, done.signal).then(late, () => {})
  try {
    return await Promise.all(upstreams.map((url) => askOne(options, url, question, limit, asking.signal)))
  } finally {
    done.abort()
  }
}

async function askOne(
  options: FederationOptions,
  url: string,
  question: Question,
  limit: number,
  signal: AbortSignal,
): Promise<Answered> {
  const { text, filter } = question
  const query = Object.keys(filter).length > 0 ? { text, filter } : { text }
  // The other registry asks no further ones: registries that name each other form no loop.
  const body = JSON.stringify({ query, federation: 'none', pageSize: limit })
  const headers = { accept: 'application/json', 'content-type': 'application/json' }
  const request = {
    url: `${url}/search`,
    method: 'POST',
    headers,
    body,
    signal,
    max_bytes: maxAnswerBytes,
  } as const
  try {
    const answering = options.ask({ ...request, timeout_ms: 2 * budget_ms }, (answer) => {
      if (answer.status !== 200) throw refused(answer.status)
      return readResults(answer.body, url, limit)
    })
    const results = await abortable(answering, signal)
    return {
      results: await foreignOf(options, results, filter),
      report: { url, status: 'answered', results: 0 },
    }
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw signal.aborted ? Failure.cancelled(signal) : thrown
    const { code, message } = thrown
    const status = code === 'upstream_timeout' ? 'late' : 'failed'
    return { results: [], report: { url, status, results: 0, detail: message } }
  }
}

function refused(status: number): Failure {
  return new Failure('upstream_failed', `It answers HTTP ${status}.`, { upstream: { status } })
}

/** Leaves out what this registry answers for itself, and what the filter excludes. */
async function foreignOf(
  options: FederationOptions,
  results: readonly ForeignResult[],
  { type: types }: Question['filter'],
): Promise<readonly ForeignResult[]> {
  const isOurs = await Promise.all(results.map(({ identifier }) => isOwn(options, identifier)))
  const isExcluded = ({ type }: ForeignResult) => types !== undefined && !types.includes(type)
  return results.filter((result, index) => !isOurs[index] && !isExcluded(result))
}

/** True for an identifier below the own domain, and for that of an agent that is listed here. */
async function isOwn({ reader, site }: FederationOptions, text: string): Promise<boolean> {
  const own = publisherOf(site().base_url)
  const identifier = publishedBy(text)
  if (!identifier || identifier.publisher === own) return true
  for (const package_name of packageNamesFor(identifier)) {
    const entry = await reader.entry({ package_name })
    const isListedHere = entry !== undefined && isListed(entry)
    if (isListedHere && isSame(identifierOf(identified(entry), own), text)) return true
  }
  return false
}

/** Domains and package names differ by more than the case of letters. */
function isSame(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase()
}

function within<Item>(characters: number, items: readonly Item[]): readonly Item[] {
  let left = characters
  const end = items.findIndex((item) => {
    left -= lengthOf(item)
    return left < 0
  })
  return end < 0 ? items : items.slice(0, end)
}

function notAsked(url: string): UpstreamReport {
  return { url, status: 'not_asked', results: 0 }
}

function skipped(url: string, detail: string): UpstreamReport {
  return { url, status: 'skipped', results: 0, detail }
}

/** A search as other registries take it. */
interface Question {
  readonly text: string
  readonly filter: Readonly<Record<string, readonly string[]>>
}

/** The search for other registries, or the reason why it cannot be passed on. */
export function questionFor(input: SearchQuery, ownUrl: string): Question | string {
  const { query, cursor, sort, min_score, filters = {} } = input
  if (query === undefined) return 'A list without a query has only agents of this registry.'
  if (cursor !== undefined) return 'Further pages have only agents of this registry.'
  if (sort !== 'relevance') return 'Only a list by relevance can be merged.'
  if (min_score !== undefined) return 'Scores of different registries do not compare.'
  const { protocol, labels, tags, publisher, ...others } = filters
  const [local] = Object.entries(others).find(([, value]) => value !== undefined) ?? []
  if (local !== undefined) return `Other registries do not know the filter ${local}.`
  if (tags && tags.length + (labels?.length ?? 0) > 1)
    return 'Other registries take one of the tags, not all.'
  const publishers = publisher?.filter((domain) => domain !== 'none' && domain !== publisherOf(ownUrl))
  if (publishers?.length === 0) return 'The publisher is this registry.'
  return {
    text: query,
    filter: present({
      type: protocol?.map(typeOfProtocol),
      tags: [...(labels ?? []), ...(tags ?? [])],
      publisher: publishers,
    }),
  }
}

function present(filter: Readonly<Record<string, readonly string[] | undefined>>): Question['filter'] {
  const stated = Object.entries(filter).flatMap(([path, values = []]) =>
    values.length > 0 ? [[path, [...new Set(values)]] as const] : [],
  )
  return Object.fromEntries(stated)
}
