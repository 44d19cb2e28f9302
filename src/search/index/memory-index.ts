import type { Pieces, Sections } from '../../common/sections.ts'
import { SerialQueue } from '../../common/serial-queue.ts'
import type { EntryChange, Hits, IndexQuery, SearchIndex, Sort } from '../search-index.ts'
import { DocumentTable } from './document-table.ts'
import { listed } from './explain.ts'
import { withChoices } from './facet-choices.ts'
import { textAndSort } from './order.ts'
import { QueryReader, type QueryReaderOptions } from './query-reader.ts'
import { type Corpus, type Passes, Ranker } from './ranker.ts'

/** An index in memory: words, meaning and exact filters; a search sees every change applied before it. */
export function createMemoryIndex(options: QueryReaderOptions = {}): MemoryIndex {
  return new MemoryIndex(options)
}

export class MemoryIndex implements SearchIndex {
  applied_revision = 0
  #table = new DocumentTable()
  readonly #ended = new AbortController()
  /** Changes wait while it is saved or restored. */
  readonly #turns = new SerialQueue()
  /** Counts changes: scores computed at an earlier version are outdated. */
  #version = 0
  readonly #reader: QueryReader
  readonly #ranker: Ranker

  constructor(options: QueryReaderOptions) {
    this.#reader = new QueryReader(options)
    this.#ranker = new Ranker(options)
  }

  /**
   * Takes the saved content instead of its own, whole or not at all. Searches find nothing new until then. Throws for
   * other content.
   */
  restore(saved: Sections): Promise<void> {
    const { signal } = this.#ended
    return this.#turns.take(async () => {
      const table = await DocumentTable.load(saved, signal)
      const [revision = 0] = await saved.doubles('revision')
      if (signal.aborted) return
      this.#version++
      this.#table = table
      this.applied_revision = revision
    })
  }

  lists(id: string): boolean {
    const slot = this.#table.slotOf(id)
    return slot !== undefined && this.#table.at(slot).state === 'ACTIVE'
  }

  apply(changes: readonly EntryChange[], revision: number): Promise<void> {
    return this.#turns.take(async () => {
      this.#version++
      for (const { id, document } of changes) {
        this.#table.remove(id)
        if (document) this.#table.add(document)
      }
      this.applied_revision = revision
    })
  }

  /** Passes the whole index to `write`, for a later restore. Changes wait until it is written; searches do not. */
  save(write: (pieces: Pieces) => Promise<void>): Promise<void> {
    return this.#turns.take(() => write(this.#pieces()))
  }

  *#pieces(): Pieces {
    yield* this.#table.save()
    yield ['revision', Float64Array.of(this.applied_revision)]
  }

  async complete(text: string, limit: number): Promise<string[]> {
    const table = this.#table
    const slots = await table.names.complete(text, limit)
    return slots.map((slot) => table.at(slot).id)
  }

  search(query: IndexQuery, signal: AbortSignal): Promise<Hits> {
    return withChoices(query, (each) => this.#search(each, signal))
  }

  async #search(query: IndexQuery, signal: AbortSignal): Promise<Hits> {
    signal.throwIfAborted()
    const { text, sort } = textAndSort(query)
    if (text === '' && sort !== 'relevance') return this.#list(sort, query)
    const reading = await this.#reader.read(text, query, this.#table.texts, signal)
    return await this.#ranker.rank(this.#corpus(), reading, sort, query, signal)
  }

  #corpus(): Corpus {
    const table = this.#table
    const version = this.#version
    return {
      table,
      hasChanged: () => version !== this.#version,
      total: (board) => board.size,
      facets: (passes) => table.attributes.facets(passes),
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort()
    this.#table = new DocumentTable()
  }

  #list(sort: Exclude<Sort, 'relevance'>, { filter, limit, after, facets }: IndexQuery): Hits {
    const { attributes, ordered, capacity } = this.#table
    const { marks, mark, total } = attributes.select(filter, capacity)
    const passes: Passes = (slot) => marks[slot] === mark
    const page = ordered[sort].take(limit, after, passes)
    const hits = page.map(({ position }) => ({ id: position.id, score: 0, why: listed, position }))
    return { hits, total, ...(facets && { facets: attributes.facets(passes) }) }
  }
}
