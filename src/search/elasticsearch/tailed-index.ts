import type { Failure } from '../../../schemas/failure.ts'
import type { JsonObject } from '../../../schemas/json.ts'
import {
  away,
  createEngine,
  type Engine,
  type EngineFetch,
  type EngineLocation,
  type EngineObserver,
  EngineRefusal,
  errorOf,
  retry_after_s,
  UnreachableEngine,
} from './client.ts'

/** A document by its id, made when it is sent; null if it was removed. */
interface EngineChange {
  readonly id: string
  readonly source: () => JsonObject | null
}

/** How a process uses its indexes of the engine. */
export interface EngineUse {
  readonly location: EngineLocation
  readonly fetch: EngineFetch
  readonly observer?: EngineObserver
  /** Identifies the registry at a revision, so that an index of another or a restored one does not match. */
  readonly originAt: (revision: number) => Promise<string>
  /** The last revision of the registry, whoever committed it. */
  readonly latest: () => Promise<number>
  /** Called for an index that has changes which the registry lacks. */
  readonly onLost?: () => void
  /** The indexes of this process; each adds itself. */
  readonly opened?: Set<TailedIndex>
  /** Fills new indexes beside those that serve, until `takeOver`. */
  readonly isBeside?: boolean
}

interface TailedIndexOptions extends EngineUse {
  /** The end of the name of the index, which states the form of its documents. */
  readonly form: string
  readonly properties: JsonObject
  /** Fields that searches use and never return: the engine does not keep them as they were sent. */
  readonly unread: readonly string[]
  /** Called for a document that the engine does not take; it is left out. */
  readonly onError: (fault: unknown) => void
}

/** Where the index states how far it is, as a document that no search finds. */
const stateId = '.state'
/** The filter of every search. */
export const noState = { ids: { values: [stateId] } }

const writeTimeout_ms = 60_000
/** Characters of one bulk request. The process has it as lines, as a text and as bytes until the engine has answered. */
const maxBulk = 1_000_000
/** Time for which the engine refuses an older version of a removed document. */
const rememberRemoved = '1h'
const indexMissing = 'index_not_found_exception'

interface State {
  readonly revision: number
  readonly origin: string
}

/** The state of an index, and the name of this index itself. */
interface Found extends State {
  readonly index: string
}

/**
 * An index of the engine that several nodes bring up to date: each applies every change with its revision as version,
 * and the engine keeps the latest. The index states its revision, which no node lowers. A missing index is made and
 * filled again, and so is one of another registry, or of one that has lost changes: the engine refuses earlier versions.
 *
 * `NAME` is an alias of the index that serves, `NAME.1`, `NAME.2`, …. Each has an alias of its own, by which changes are
 * written: bulk requests require an alias, so that the engine makes no index of its own form in the place of a missing
 * one, and changes that were meant for a replaced index do not get into the next one, which may lack earlier changes.
 */
export class TailedIndex {
  /** Number of the last change that searches can see. */
  applied_revision = 0
  readonly name: string
  readonly #options: TailedIndexOptions
  readonly #engine: Engine
  /** The index that is filled beside the one that serves. */
  #beside: string | undefined
  /** True while the index is known to be of this registry. */
  #isChecked = false
  /** The index that has the changes up to `applied_revision`. */
  #applied: string | undefined
  readonly #closing = new AbortController()

  constructor(options: TailedIndexOptions) {
    const { location, fetch, observer, form, opened } = options
    this.name = `${location.index}-${form}`
    this.#options = options
    this.#engine = createEngine(location, fetch, observer)
    opened?.add(this)
  }

  /** The answer to a search. Throws Failure `unavailable` also while the index is missing: it has then lost every change. */
  async search(body: JsonObject, signal: AbortSignal): Promise<SearchAnswer> {
    this.#closing.signal.throwIfAborted()
    const path = `${this.name}/_search?allow_partial_search_results=false`
    // Scores by words count the words of all shards. Counts have no scores, and their answers are then remembered by the
    // engine; for vectors it refuses a type.
    const isScored = body.size !== 0 && !('knn' in body)
    const type = isScored ? '&search_type=dfs_query_then_fetch' : ''
    const { status, json } = await this.#engine('POST', path + type, body, { signal })
    if (status === 404) {
      this.applied_revision = 0
      throw missing()
    }
    if (json.timed_out) throw away('The search engine takes too long.')
    return json as unknown as SearchAnswer
  }

  /**
   * Applies changes that follow `applied_revision`. Does nothing but wait for their visibility if another node has
   * applied them. Throws Failure `unavailable` if the index has lost changes: `applied_revision` is then lower.
   */
  async apply(changes: readonly EngineChange[], revision: number): Promise<void> {
    this.#closing.signal.throwIfAborted()
    const isChecked = this.#isChecked
    // After a fault the index is checked again: the outage may have been long.
    this.#isChecked = false
    const found = isChecked ? await this.#found() : await this.#checked()
    if (found === undefined || found.revision < this.applied_revision) {
      this.applied_revision = found?.revision ?? 0
      throw away('The index of the search engine has lost changes; it is filled again.')
    }
    const { index } = found
    if (found.revision < revision) await this.#write(index, changes, revision)
    await this.#refresh(index)
    // Also if another node has written them.
    this.#options.observer?.onWrite(this.#beside ?? this.name)
    this.applied_revision = Math.max(found.revision, revision)
    this.#applied = index
    this.#isChecked = true
  }

  /** Replaces the index that has the changes up to `applied_revision` by an empty one, unless another node has done so. */
  async discard(): Promise<void> {
    if (this.#applied !== undefined) await this.#replace(this.#applied)
    this.#applied = undefined
    this.applied_revision = 0
    this.#isChecked = false
  }

  /** Makes the index that was filled beside the one that serves take its place, and deletes all others. */
  async takeOver(): Promise<void> {
    const own = this.#beside
    if (own === undefined) return
    const others = (await this.#indexes()).map(({ index }) => index).filter((index) => index !== own)
    const actions = [
      ...others.map((index) => ({ remove_index: { index } })),
      { add: { index: own, alias: this.name } },
    ]
    await this.#engine('POST', '_aliases', { actions }, { timeout_ms: writeTimeout_ms })
  }

  /** Deletes the indexes that do not serve: a rebuild that was killed has left them. */
  async removeOthers(): Promise<void> {
    for (const { index, isServing } of await this.#indexes()) if (!isServing) await this.#remove(index)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(away('The index is closed.'))
  }

  async #write(index: string, changes: readonly EngineChange[], revision: number): Promise<void> {
    let lines: string[] = []
    let size = 0
    // The engine takes one change of a document at a version.
    const last = new Map(changes.map(({ id, source }) => [id, source]))
    for (const [id, sourceOf] of last) {
      const source = sourceOf()
      const head = { _id: id, version: revision, version_type: 'external' }
      lines.push(JSON.stringify(source ? { index: head } : { delete: head }))
      if (source) lines.push(JSON.stringify(source))
      size += lines.at(-1)?.length ?? 0
      if (size < maxBulk) continue
      await this.#bulk(index, lines, revision)
      lines = []
      size = 0
    }
    if (lines.length > 0) await this.#bulk(index, lines, revision)
    const head = { _id: stateId, version: revision, version_type: 'external' }
    const state = { state: { revision, origin: await this.#options.originAt(revision) } }
    await this.#bulk(index, [JSON.stringify({ index: head }), JSON.stringify(state)], revision)
  }

  async #bulk(index: string, lines: readonly string[], revision: number): Promise<void> {
    const { json } = await this.#post(`${writesTo(index)}/_bulk?require_alias=true`, lines)
    const refused: string[] = []
    for (const item of json.items as unknown as readonly Record<string, BulkItem>[]) {
      for (const { status, _id, error } of Object.values(item)) {
        // 409: another node has written this version or a later one.
        if (status < 300 || status === 409 || (status === 404 && !error)) continue
        const reason = `${error?.type}, ${error?.reason}`
        if (status !== 400) throw this.#refusedWrite(reason)
        this.#options.onError(new Error(`The search engine does not take ${_id}: ${reason}`))
        refused.push(JSON.stringify({ delete: { _id, version: revision, version_type: 'external' } }))
      }
    }
    // What the engine refuses is left out, also as it was before.
    if (refused.length > 0) await this.#bulk(index, refused, revision)
  }

  /** The observer logs it: it may last for long, and each attempt ends with it. */
  #refusedWrite(reason: string): Failure {
    const fault = new UnreachableEngine(
      'unavailable',
      'The search engine does not take changes now.',
      { retry_after_s },
      new Error(reason),
    )
    this.#options.observer?.onWrite(this.#beside ?? this.name, fault)
    return fault
  }

  async #refresh(index: string): Promise<void> {
    const { json } = await this.#post(`${writesTo(index)}/_refresh`)
    const { failed } = json._shards as { readonly failed: number }
    if (failed > 0) throw away('A part of the index of the search engine is away.')
  }

  async #post(path: string, body?: readonly string[]) {
    const answer = await this.#engine('POST', path, body, { timeout_ms: writeTimeout_ms })
    if (answer.status === 404) throw missing()
    return answer
  }

  /** The index, which is made if it is missing or of another registry; undefined if it is lost meanwhile. */
  async #checked(): Promise<Found | undefined> {
    const { originAt, onError, isBeside } = this.#options
    const found = await this.#found()
    if (found && (found.revision === 0 || found.origin === (await originAt(found.revision)))) return found
    if (found) {
      const latest = await this.#options.latest()
      const isAhead = found.revision > latest
      onError(new Error(isAhead ? storeBehind(this.name, found.revision, latest) : notCurrent(this.name)))
      if (isAhead) this.#options.onLost?.()
      await this.#replace(found.index)
      return await this.#found()
    }
    return { index: await this.#create(!isBeside), revision: 0, origin: '' }
  }

  /**
   * Makes an empty index and puts it in the place of this one, in one step: of several nodes that do so at once the first
   * wins, and none deletes the index of another. What the others have made is deleted as a leftover.
   */
  async #replace(index: string): Promise<void> {
    const { isBeside } = this.#options
    const next = await this.#create(false)
    const actions = [
      { remove_index: { index } },
      ...(isBeside ? [] : [{ add: { index: next, alias: this.name } }]),
    ]
    await this.#engine('POST', '_aliases', { actions }, { timeout_ms: writeTimeout_ms })
  }

  /** Undefined without an index. */
  async #found(): Promise<Found | undefined> {
    if (this.#options.isBeside && this.#beside === undefined) return undefined
    const { status, json } = await this.#engine('GET', `${this.#beside ?? this.name}/_doc/${stateId}`)
    if (status === 404 && errorOf(json).type === indexMissing) return undefined
    const { state = { revision: 0, origin: '' } } = (json._source ?? {}) as { readonly state?: State }
    return { ...state, index: json._index as string }
  }

  /** The indexes of this form of documents, the oldest first. */
  async #indexes(): Promise<{ readonly index: string; readonly isServing: boolean }[]> {
    const { json } = await this.#engine('GET', `${this.name}.*/_alias`)
    return Object.entries(json as unknown as Record<string, { readonly aliases: JsonObject }>)
      .map(([index, { aliases }]) => ({ index, isServing: this.name in aliases }))
      .sort((left, right) => numberOf(left.index) - numberOf(right.index))
  }

  /** Makes an empty index, which serves at once or not yet. */
  async #create(isServing: boolean): Promise<string> {
    const { location, properties, unread, isBeside } = this.#options
    const last = (await this.#indexes()).at(-1)
    const index = `${this.name}.${last ? numberOf(last.index) + 1 : 1}`
    const body = {
      aliases: { [writesTo(index)]: {}, ...(isServing && { [this.name]: {} }) },
      settings: {
        index: {
          ...partsOf(location),
          // Whoever applies changes refreshes.
          refresh_interval: '-1',
          gc_deletes: rememberRemoved,
          mapping: { nested_objects: { limit: 10_000 } },
        },
      },
      mappings: {
        dynamic: 'strict',
        _source: { excludes: unread },
        properties: { ...properties, state: { type: 'object', enabled: false } },
      },
    }
    try {
      await this.#engine('PUT', index, body as unknown as JsonObject, { timeout_ms: writeTimeout_ms })
    } catch (fault) {
      // Another node was first.
      if (!(fault instanceof EngineRefusal) || fault.type !== 'resource_already_exists_exception') throw fault
    }
    if (isBeside) this.#beside = index
    return index
  }

  async #remove(index: string): Promise<void> {
    await this.#engine('DELETE', index, undefined, { timeout_ms: writeTimeout_ms })
  }
}

/** How many parts a new index has. */
function partsOf({ shards = 1, replicas }: EngineLocation): JsonObject {
  const copies = replicas === undefined ? { auto_expand_replicas: '0-1' } : { number_of_replicas: replicas }
  return { number_of_shards: shards, ...copies }
}

/** The alias by which changes of an index are written. */
function writesTo(index: string): string {
  return `${index}-writes`
}

function numberOf(index: string): number {
  return Number(index.slice(index.lastIndexOf('.') + 1))
}

function storeBehind(name: string, revision: number, latest: number): string {
  return `The store is at revision ${latest}, and the index ${name} has changes up to revision ${revision}: changes that were acknowledged are missing. The index is made again.`
}

function notCurrent(name: string): string {
  return `The index ${name} is not of this registry as it is now; it is made again.`
}

function missing() {
  return away('The index of the search engine is missing; it is made again.')
}

interface BulkItem {
  readonly _id: string
  readonly status: number
  readonly error?: { readonly type: string; readonly reason: string }
}

/** One document that a search found. */
export interface EngineHit<Source> {
  readonly _id: string
  readonly _source: Source
}

export interface SearchAnswer<Source = never> {
  readonly hits: {
    readonly total?: { readonly value: number }
    readonly hits: readonly EngineHit<Source>[]
  }
  readonly aggregations?: Readonly<Record<string, Aggregation>>
  readonly suggest?: Readonly<
    Record<string, readonly { readonly options: readonly { readonly text: string }[] }[]>
  >
}

interface Aggregation {
  readonly value?: number
  readonly buckets?: readonly { readonly key: string; readonly doc_count: number }[]
}
