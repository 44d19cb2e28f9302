import type { JsonObject } from '../../../schemas/json.ts'
import { away, type Engine, EngineRefusal, errorOf } from './client.ts'

/** A document by its id; null if it was removed. */
export interface EngineChange {
  readonly id: string
  readonly source: JsonObject | null
}

interface TailedIndexOptions {
  readonly engine: Engine
  /** The name of the index, which states the form of its documents. */
  readonly name: string
  readonly properties: JsonObject
  /** Identifies the registry at a revision, so that an index of another or a restored one does not match. */
  readonly originAt: (revision: number) => Promise<string>
  /** Called for a document that the engine does not take; it is left out. */
  readonly onError: (fault: unknown) => void
}

/** Where the index states how far it is, as a document that no search finds. */
const stateId = '.state'
/** The filter of every search. */
export const noState = { ids: { values: [stateId] } }

const writeTimeout_ms = 60_000
/** Characters of one bulk request. */
const maxBulk = 8_000_000
/** Time for which the engine refuses an older version of a removed document. */
const rememberRemoved = '1h'
const indexMissing = 'index_not_found_exception'

interface State {
  readonly revision: number
  readonly origin: string
}

/**
 * An index of the engine that several nodes bring up to date: each applies every change with its revision as version,
 * and the engine keeps the latest. The index states its revision, which no node lowers. A missing index is made and
 * filled again, and so is one of another registry.
 */
export class TailedIndex {
  /** Number of the last change that searches can see. */
  applied_revision = 0
  readonly #options: TailedIndexOptions
  /** True while the index is known to be of this registry. */
  #isChecked = false
  readonly #closing = new AbortController()

  constructor(options: TailedIndexOptions) {
    this.#options = options
  }

  /** The answer to a search. Throws Failure `unavailable` also while the index is missing: it has then lost every change. */
  async search(body: JsonObject, signal: AbortSignal): Promise<SearchAnswer> {
    this.#closing.signal.throwIfAborted()
    const { engine, name } = this.#options
    const { status, json } = await engine('POST', `${name}/_search`, body, { signal })
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
  async apply(changes: () => Iterable<EngineChange>, revision: number): Promise<void> {
    this.#closing.signal.throwIfAborted()
    const isChecked = this.#isChecked
    // After a fault the index is checked again: the outage may have been long.
    this.#isChecked = false
    const state = isChecked ? await this.#state() : await this.#checkedState()
    if (state === undefined || state.revision < this.applied_revision) {
      this.applied_revision = state?.revision ?? 0
      throw away('The index of the search engine has lost changes; it is filled again.')
    }
    if (state.revision < revision) await this.#write(changes(), revision)
    await this.#post('_refresh')
    this.applied_revision = Math.max(state.revision, revision)
    this.#isChecked = true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(away('The index is closed.'))
  }

  async #write(changes: Iterable<EngineChange>, revision: number): Promise<void> {
    let lines: string[] = []
    let size = 0
    // The engine takes one change of a document at a version.
    const last = new Map(Iterator.from(changes).map((change) => [change.id, change]))
    for (const { id, source } of last.values()) {
      const head = { _id: id, version: revision, version_type: 'external' }
      lines.push(JSON.stringify(source ? { index: head } : { delete: head }))
      if (source) lines.push(JSON.stringify(source))
      size += lines.at(-1)?.length ?? 0
      if (size < maxBulk) continue
      await this.#bulk(lines, revision)
      lines = []
      size = 0
    }
    if (lines.length > 0) await this.#bulk(lines, revision)
    const head = { _id: stateId, version: revision, version_type: 'external' }
    const state = { state: { revision, origin: await this.#options.originAt(revision) } }
    await this.#bulk([JSON.stringify({ index: head }), JSON.stringify(state)], revision)
  }

  async #bulk(lines: readonly string[], revision: number): Promise<void> {
    // With an alias, the engine makes no index of its own form in the place of a missing one.
    const { json } = await this.#post('_bulk?require_alias=true', lines)
    const refused: string[] = []
    for (const item of json.items as unknown as readonly Record<string, BulkItem>[]) {
      for (const { status, _id, error } of Object.values(item)) {
        // 409: another node has written this version or a later one.
        if (status < 300 || status === 409 || (status === 404 && !error)) continue
        const reason = `${error?.type}, ${error?.reason}`
        if (status !== 400) throw away('The search engine does not take changes now.', new Error(reason))
        this.#options.onError(new Error(`The search engine does not take ${_id}: ${reason}`))
        refused.push(JSON.stringify({ delete: { _id, version: revision, version_type: 'external' } }))
      }
    }
    // What the engine refuses is left out, also as it was before.
    if (refused.length > 0) await this.#bulk(refused, revision)
  }

  async #post(action: string, body?: readonly string[]) {
    const { engine, name } = this.#options
    const answer = await engine('POST', `${name}/${action}`, body, { timeout_ms: writeTimeout_ms })
    if (answer.status === 404) throw missing()
    return answer
  }

  /** The state of the index, which is made if it is missing or of another registry. */
  async #checkedState(): Promise<State> {
    const { name, originAt, onError } = this.#options
    const state = await this.#state()
    if (state && (state.revision === 0 || state.origin === (await originAt(state.revision)))) return state
    if (state) {
      onError(new Error(`The index ${name} is not of this registry as it is now; it is made again.`))
      await this.#remove()
    }
    await this.#create()
    return { revision: 0, origin: '' }
  }

  /** Undefined without an index. */
  async #state(): Promise<State | undefined> {
    const { engine, name } = this.#options
    const { status, json } = await engine('GET', `${name}/_doc/${stateId}`)
    if (status === 404) return errorOf(json).type === indexMissing ? undefined : { revision: 0, origin: '' }
    return (json._source as unknown as { readonly state: State }).state
  }

  async #create(): Promise<void> {
    const { engine, name, properties } = this.#options
    const body = {
      aliases: { [name]: {} },
      settings: {
        index: {
          number_of_shards: 1,
          auto_expand_replicas: '0-1',
          // Whoever applies changes refreshes.
          refresh_interval: '-1',
          gc_deletes: rememberRemoved,
          mapping: { nested_objects: { limit: 10_000 } },
        },
      },
      mappings: {
        dynamic: 'strict',
        properties: { ...properties, state: { type: 'object', enabled: false } },
      },
    }
    try {
      await engine('PUT', `${name}.1`, body as unknown as JsonObject, { timeout_ms: writeTimeout_ms })
    } catch (fault) {
      // Another node was first.
      if (!(fault instanceof EngineRefusal) || fault.type !== 'resource_already_exists_exception') throw fault
    }
  }

  async #remove(): Promise<void> {
    const { engine, name } = this.#options
    await engine('DELETE', `${name}.1`, undefined, { timeout_ms: writeTimeout_ms })
  }
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
  readonly _score: number | null
  readonly _source: Source
  readonly inner_hits?: Readonly<
    Record<
      string,
      { readonly hits: { readonly hits: readonly { readonly _nested: { readonly offset: number } }[] } }
    >
  >
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
