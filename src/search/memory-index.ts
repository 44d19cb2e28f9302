import { takeBest } from './best.ts'
import { EntryTable } from './entry-table.ts'
import { explain, listed } from './explain.ts'
import { fuse } from './fusion.ts'
import { checkPosition } from './order.ts'
import { readQuery } from './query-terms.ts'
import { Scoreboard } from './scoreboard.ts'
import type { EntryChange, Hits, Query, SearchIndex, Sort } from './search-index.ts'

type Passes = (slot: number) => boolean

/** An index in memory: lexical search and exact filters; a search sees every change applied before it. */
export function createMemoryIndex(): SearchIndex {
  return new MemoryIndex()
}

class MemoryIndex implements SearchIndex {
  applied_revision = 0
  #table = new EntryTable()
  readonly #board = new Scoreboard()

  async apply(changes: readonly EntryChange[], revision: number): Promise<void> {
    for (const { id, document } of changes) {
      this.#table.remove(id)
      if (document) this.#table.add(document)
    }
    this.applied_revision = revision
  }

  async search(query: Query, signal: AbortSignal): Promise<Hits> {
    signal.throwIfAborted()
    const text = query.text?.trim() ?? ''
    const sort = text === '' && query.sort === 'relevance' ? 'newest' : query.sort
    if (query.after) checkPosition(query.after, sort)
    return text === '' && sort !== 'relevance' ? this.#list(sort, query) : this.#find(text, sort, query)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#table = new EntryTable()
  }

  #list(sort: Exclude<Sort, 'relevance'>, { filter, limit, after, facets }: Query): Hits {
    const { attributes, ordered, capacity } = this.#table
    const { marks, mark, total } = attributes.select(filter, capacity)
    const passes: Passes = (slot) => marks[slot] === mark
    const page = ordered[sort].take(limit, after, passes)
    const hits = page.map(({ position }) => ({ id: position.id, score: 0, why: listed, position }))
    return { hits, total, ...(facets && { facets: attributes.facets(passes) }) }
  }

  #find(text: string, sort: Sort, { filter, limit, after, facets }: Query): Hits {
    const { texts, attributes, ordered, capacity } = this.#table
    const terms = texts.weigh(readQuery(text))
    const board = this.#board
    board.reset(capacity)
    texts.score(text, terms, board)
    const { marks, mark } = attributes.select(filter, capacity)
    if (mark > 0) board.keep(marks, mark)

    const lexical = board.scores
    const scores = fuse({ lexical })
    const idOf = (slot: number) => this.#table.at(slot).document.id
    const passes: Passes = (slot) => lexical[slot] !== 0
    const page =
      sort === 'relevance'
        ? takeBest(board, scores, idOf, limit, after)
        : ordered[sort].take(limit, after, passes)
    const hits = page.map(({ slot, position }) => ({
      id: position.id,
      score: scores[slot] ?? 0,
      why: explain(slot, this.#table.at(slot), terms, lexical[slot] ?? 0),
      position,
    }))
    return { hits, total: board.size, ...(facets && { facets: attributes.facets(passes) }) }
  }
}
