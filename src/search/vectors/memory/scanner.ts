import { Highest } from '../../../common/highest.ts'
import { type Kernel, kernelOn } from './kernel-functions.ts'
import { distances, lanes, type MemoryLayout, slabRows } from './layout.ts'
import { type ErrorBounds, type Terms, writeCoarseQuery, writeQuery } from './quantise.ts'
import { type MemoryViews, viewsOf } from './views.ts'

/** Searches over the same rows, which are listed in their slabs. It can be sent to another thread. */
export interface Scan {
  /** Three numbers for each slab: its address, the width of its entries and the number of listed entries. */
  readonly plan: Uint32Array
  /** At most `lanes`. */
  readonly queries: readonly Query[]
  readonly bounds: ErrorBounds
}

interface Query {
  readonly vector: Float32Array
  readonly limit: number
}

/** The `limit` most similar entries in no order, and all entries as similar as the last of them. */
export interface ScanResult {
  /** Number of the slab in the plan * slabRows + index in the slab. */
  readonly entries: Uint32Array
  readonly similarities: Float64Array
  /** -1 for an entry without capabilities. */
  readonly capabilities: Int16Array
}

/** The high halves look for at least this many entries: the best of many that seem good seems better than it is. */
const leastCoarse = 32

/**
 * Of slabs that together have more bytes of high halves than a processor's cache, a slab is read whole from this many
 * listed rows on: from memory, rows that lie scattered take longer than all of them in order.
 */
const cacheBytes = 16 * 2 ** 20
const leastWhole = slabRows / 4

/** From this many queries on, one pass for `lanes` of them takes less time than a pass for each. */
const leastTogether = 3

/**
 * Searches one memory, in the thread of its layout. Only one scan runs at a time: a slab has space for the distances of
 * its queries alone.
 */
export class Scanner {
  /** Index of the best capability of the entry last compared, the first of equals; -1 if the entry has none. */
  capability = -1
  readonly #memory: WebAssembly.Memory
  readonly #layout: MemoryLayout
  readonly #kernel: Kernel
  readonly #candidates = new Candidates()
  #views: MemoryViews
  #terms: Terms = { unit: 0, margin: 0, slack: 0 }

  constructor(memory: WebAssembly.Memory, layout: MemoryLayout) {
    this.#memory = memory
    this.#layout = layout
    this.#kernel = kernelOn(memory, layout)
    this.#views = viewsOf(memory)
    const { order } = layout.scratch
    for (let row = 0; row < slabRows; row++) this.#views.shorts[order / 2 + row] = row
  }

  /** The result of each query. */
  search({ plan, queries, bounds }: Scan): ScanResult[] {
    const isTogether = queries.length >= leastTogether
    if (isTogether) this.#measureFour(plan, queries, bounds)
    return queries.map(({ vector, limit }, number) => {
      this.load(vector, bounds)
      if (!isTogether) this.#measure(plan, vector, bounds)
      return this.#nearest(plan, limit, isTogether ? number : 0)
    })
  }

  /** The result for the loaded vector, which was measured as the query with this number. */
  #nearest(plan: Uint32Array, limit: number, query: number): ScanResult {
    const furthest = this.#furthest(query, Math.max(limit, leastCoarse))
    const candidates = this.#candidates
    candidates.size = 0
    const lowers = new Highest(limit)
    for (let at = 0; at < plan.length; at += 3) {
      const slab = plan[at] ?? 0
      const width = plan[at + 1] ?? 0
      const listed = plan[at + 2] ?? 0
      this.#choose(slab, width, listed, query, furthest, (at / 3) * slabRows, candidates, lowers)
    }
    return this.#best(plan, candidates, lowers.least, limit)
  }

  /** Sets the vector that `similarity` compares with. */
  load(vector: Float32Array, bounds: ErrorBounds): void {
    this.#refresh()
    this.#terms = writeQuery(this.#views, this.#layout, vector, bounds)
  }

  /** Similarity of the loaded vector and the entry with this first row, by its floats. Sets `capability`. */
  similarity(slab: number, row: number, width: number): number {
    const { unit, margin, slack } = this.#terms
    if (unit === 0) {
      this.capability = width > 1 ? 0 : -1
      return 0
    }
    const similarity = this.#kernel.similarity(slab, row, width, unit, margin, slack)
    this.capability = this.#kernel.best.value
    return similarity
  }

  /** Makes new views if the memory has grown. */
  #refresh(): void {
    if (this.#views.bytes.length < this.#memory.buffer.byteLength) this.#views = viewsOf(this.#memory)
  }

  /** Measures all entries by the high halves. */
  #measure(plan: Uint32Array, vector: Float32Array, bounds: ErrorBounds): void {
    const { unit, base, margin, slack } = writeCoarseQuery(this.#views, this.#layout, vector, bounds)
    this.#eachSlab(plan, 1, (slab, list, entries, width, rows) =>
      this.#kernel.measure(slab, list, entries, width, rows, unit, base, margin, slack),
    )
  }

  #measureFour(plan: Uint32Array, queries: readonly Query[], bounds: ErrorBounds): void {
    this.#refresh()
    const { floats } = this.#views
    const terms = this.#layout.scratch.terms / 4
    queries.forEach(({ vector }, number) => {
      const written = writeCoarseQuery(this.#views, this.#layout, vector, bounds, number, lanes)
      const { unit, base, margin, slack } = written
      for (const [row, value] of [unit, base, margin, slack].entries())
        floats[terms + row * lanes + number] = value
    })
    this.#eachSlab(plan, lanes, this.#kernel.measureFour)
  }

  #eachSlab(plan: Uint32Array, queries: number, measure: Kernel['measureFour']): void {
    const { scratch, slab: sections, halfBytes } = this.#layout
    const start = scratch.histogram / 4
    this.#views.words.fill(0, start, start + distances * queries)
    const isUncached = (plan.length / 3) * slabRows * halfBytes > cacheBytes
    for (let at = 0; at < plan.length; at += 3) {
      const slab = plan[at] ?? 0
      const width = plan[at + 1] ?? 0
      const entries = plan[at + 2] ?? 0
      const rows = isUncached && entries * width >= leastWhole ? slabRows : 0
      measure(slab, slab + sections.list, entries, width, rows)
    }
  }

  /** The distance from the query within which the nearest `entries` seem to lie. */
  #furthest(query: number, entries: number): number {
    const { words } = this.#views
    const start = this.#layout.scratch.histogram / 4 + query * distances
    const end = start + distances - 1
    let distance = start
    for (let near = words[start] ?? 0; near < entries && distance < end; ) near += words[++distance] ?? 0
    return distance - start
  }

  /** Adds the entries of a slab that may be among the best, according to the bounds of the integers. */
  #choose(
    slab: number,
    width: number,
    listed: number,
    query: number,
    furthest: number,
    first: number,
    candidates: Candidates,
    lowers: Highest,
  ): void {
    const kernel = this.#kernel
    const { unit, margin, slack } = this.#terms
    const { shorts, words, floats } = this.#views
    const { scratch, slab: sections } = this.#layout
    const list = scratch.narrowed
    const entries = kernel.narrow(slab, slab + sections.list, listed, width, furthest, query)
    if (entries === 0) return
    kernel.estimate(slab, list, entries * width, unit, margin, slack)
    const chosen = kernel.choose(slab, list, entries, width, lowers.least, margin, slack)
    for (let at = scratch.chosen / 4, end = at + chosen * 3; at < end; at += 3) {
      const row = shorts[list / 2 + (words[at] ?? 0) * width] ?? 0
      const lower = floats[at + 2] ?? 0
      candidates.add(first + row / width, floats[at + 1] ?? 0, lower)
      lowers.offer(lower)
    }
  }

  /**
   * Returns the best entries by their floats: first the entries that certainly qualify, then those that may still be
   * better.
   */
  #best(plan: Uint32Array, candidates: Candidates, sure: number, limit: number): ScanResult {
    const { entries, uppers, lowers, size } = candidates
    const similarities = new Float64Array(size).fill(Number.NEGATIVE_INFINITY)
    const capabilities = new Int16Array(size)
    const best = new Highest(limit)
    for (const isSure of [true, false]) {
      for (let index = 0; index < size; index++) {
        if ((lowers[index] ?? 0) >= sure !== isSure || (uppers[index] ?? 0) < best.least) continue
        const entry = entries[index] ?? 0
        const at = Math.floor(entry / slabRows) * 3
        const width = plan[at + 1] ?? 0
        const similarity = this.similarity(plan[at] ?? 0, (entry % slabRows) * width, width)
        similarities[index] = similarity
        capabilities[index] = this.capability
        best.offer(similarity)
      }
    }
    const least = Math.max(best.least, -Number.MAX_VALUE)
    let found = 0
    for (let index = 0; index < size; index++) {
      if ((similarities[index] ?? 0) < least) continue
      entries[found] = entries[index] ?? 0
      similarities[found] = similarities[index] ?? 0
      capabilities[found++] = capabilities[index] ?? 0
    }
    return {
      entries: entries.slice(0, found),
      similarities: similarities.slice(0, found),
      capabilities: capabilities.slice(0, found),
    }
  }
}

/** Entries that may be among the best, stored without an object for each; used by one search after another. */
class Candidates {
  size = 0
  /** Number of the slab in the plan * slabRows + index in the slab. */
  entries: Uint32Array = new Uint32Array(1024)
  /** Upper and lower bounds of the similarity. */
  uppers: Float32Array = new Float32Array(1024)
  lowers: Float32Array = new Float32Array(1024)

  add(entry: number, upper: number, lower: number): void {
    if (this.size === this.entries.length) this.#grow()
    this.entries[this.size] = entry
    this.uppers[this.size] = upper
    this.lowers[this.size] = lower
    this.size++
  }

  #grow(): void {
    const { entries, uppers, lowers } = this
    this.entries = new Uint32Array(entries.length * 2)
    this.entries.set(entries)
    this.uppers = new Float32Array(uppers.length * 2)
    this.uppers.set(uppers)
    this.lowers = new Float32Array(lowers.length * 2)
    this.lowers.set(lowers)
  }
}
