import { abortable } from '../../../common/abort.ts'
import type { Pieces, Sections } from '../../../common/sections.ts'
import { SerialQueue } from '../../../common/serial-queue.ts'
import { takeFirst } from '../../../common/take-first.ts'
import { inSlices } from '../../../common/time-slices.ts'
import { type AttributeFilter, checkFilter } from '../attributes.ts'
import { checkChange, checkVector } from '../check.ts'
import { bestFirst, type Near, type VectorChange, type VectorStore } from '../vector-store.ts'
import { VectorStoreError } from '../vector-store-error.ts'
import { lanes, layoutOf, type MemoryLayout } from './layout.ts'
import { type ScanPlan, slotOf } from './plan.ts'
import { ScanThread } from './scan-thread.ts'
import { Scanner, type ScanResult } from './scanner.ts'
import { VectorTable } from './vector-table.ts'

export interface MemoryVectorStoreOptions {
  readonly dimensions: number
  /** The entry of the thread for long scans: worker.ts, or its build output. Without it, no thread is started. */
  readonly worker?: URL
  /** Scans of this many rows run in that thread; by default scans of some 10 ms. */
  readonly worker_rows?: number
}

export interface MemoryVectorStore extends VectorStore {
  /** Passes the whole store to `write`, for a later restore. Changes wait until it is written; searches do not. */
  save(write: (pieces: Pieces) => Promise<void>): Promise<void>
  /** Takes the saved content instead of its own, whole or not at all. Changes wait meanwhile. Throws for other content. */
  restore(saved: Sections): Promise<void>
}

/** Bytes of halves that a scan on slow memory reads in some 5 ms. */
const quickBytes = 32 * 2 ** 20

/**
 * Vectors in memory, compared one by one: results are exact, up to the rounding of floats. Scans and changes run one
 * after another, and comparisons between changes, so none sees half a change.
 */
export function createMemoryVectorStore(options: MemoryVectorStoreOptions): MemoryVectorStore {
  return new VectorsInMemory(options)
}

/** A search that waits for its scan. */
interface Waiting {
  readonly vector: Float32Array
  readonly filter: AttributeFilter
  readonly limit: number
  readonly signal: AbortSignal
  resolve(found: Near[]): void
  reject(reason: unknown): void
}

/** The vectors, and what scans their memory. */
interface Opened {
  readonly table: VectorTable
  readonly scanner: Scanner
  readonly thread: ScanThread | undefined
}

class VectorsInMemory implements MemoryVectorStore {
  applied_revision = 0
  readonly #layout: MemoryLayout
  readonly #worker_rows: number
  readonly #turns = new SerialQueue()
  /** Changes and snapshots, which are long: searches run between their turns. */
  readonly #changes = new SerialQueue()
  /** Until the change that has its turn ends. */
  #change: Promise<void> | undefined
  /** Searches in the order of their calls. */
  #waiting: Waiting[] = []
  readonly #worker: URL | undefined
  readonly #ended = new AbortController()
  #open: Opened | undefined

  constructor({ dimensions, worker, worker_rows }: MemoryVectorStoreOptions) {
    this.#layout = layoutOf(dimensions)
    this.#worker_rows = worker_rows ?? quickBytes / this.#layout.halfBytes
    this.#worker = worker
    this.#open = this.#scanning(new VectorTable(this.#layout))
  }

  restore(saved: Sections): Promise<void> {
    const { signal } = this.#ended
    return this.#changes.take(async () => {
      const table = await VectorTable.load(this.#layout, saved, signal)
      const [revision = 0] = await saved.doubles('revision')
      await this.#turns.take(async () => {
        if (signal.aborted) return
        await this.#open?.thread?.[Symbol.asyncDispose]()
        this.#open = this.#scanning(table)
        this.applied_revision = revision
      })
    })
  }

  async apply(changes: readonly VectorChange[], revision: number): Promise<void> {
    const turn = () => {
      const applied = this.#apply(changes, revision)
      const end = () => {
        this.#change = undefined
      }
      this.#change = applied.then(end, end)
      return applied
    }
    return this.#changes.take(() => this.#turns.take(turn))
  }

  async save(write: (pieces: Pieces) => Promise<void>): Promise<void> {
    return this.#changes.take(async () => write(this.#pieces(this.#opened().table)))
  }

  async nearest(vector: Float32Array, filter: AttributeFilter, limit: number, signal: AbortSignal) {
    checkFilter(filter)
    signal.throwIfAborted()
    checkVector(vector, this.#layout.dimensions)
    if (limit < 1) return []
    const { promise, resolve, reject } = Promise.withResolvers<Near[]>()
    this.#waiting.push({ vector, filter, limit, signal, resolve, reject })
    void this.#turns.take(() => this.#searchNext())
    return abortable(promise, signal)
  }

  async compare(vector: Float32Array, ids: readonly string[], signal: AbortSignal) {
    signal.throwIfAborted()
    checkVector(vector, this.#layout.dimensions)
    do await abortable(Promise.resolve(this.#change), signal)
    while (this.#change !== undefined)
    const { table, scanner } = this.#opened()
    scanner.load(vector, table.bounds)
    return ids.flatMap((id): Near[] => {
      const rows = table.rowsOf(id)
      if (!rows) return []
      const similarity = scanner.similarity(rows.slab.address, rows.row, rows.width)
      return [near(id, similarity, scanner.capability)]
    })
  }

  /** Refuses waiting calls; the current call ends first. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort()
    const thread = this.#open?.thread
    this.#open = undefined
    await thread?.[Symbol.asyncDispose]()
    await this.#changes.take(() => this.#turns.take(async () => undefined))
  }

  async #apply(changes: readonly VectorChange[], revision: number): Promise<void> {
    const { table } = this.#opened()
    await inSlices(changes, (change) => checkChange(change, this.#layout.dimensions))
    const last = new Map(changes.map(({ id, entry }) => [id, entry]))
    const widths = [...last].map(([id, entry]) => [id, entry?.vectors.length ?? 0] as const)
    table.reserve(widths)
    await inSlices(widths, ([id, width]) => {
      if (table.widthOf(id) !== width) table.remove(id)
    })
    await inSlices(last, ([id, entry]) => {
      if (entry) table.put(id, entry)
    })
    this.applied_revision = revision
  }

  *#pieces(table: VectorTable): Pieces {
    yield* table.save()
    yield ['revision', Float64Array.of(this.applied_revision)]
  }

  /** Serves the first search that waits, and others with its filter in the same pass over the vectors. */
  async #searchNext(): Promise<void> {
    const waiting = this.#waiting.filter(({ signal }) => !signal.aborted)
    const filter = JSON.stringify(waiting[0]?.filter)
    const searches = waiting.filter((each) => JSON.stringify(each.filter) === filter).slice(0, lanes)
    this.#waiting = waiting.filter((each) => !searches.includes(each))
    const [first] = searches
    if (!first) return
    try {
      const found = await this.#search(first.filter, searches)
      for (const [number, { resolve }] of searches.entries()) resolve(found[number] ?? [])
    } catch (error) {
      for (const { reject } of searches) reject(error)
    }
  }

  async #search(filter: AttributeFilter, searches: readonly Waiting[]): Promise<Near[][]> {
    const { table, scanner, thread } = this.#opened()
    const plan = table.plan(filter)
    if (plan.entries === 0) return []
    const queries = searches.map(({ vector, limit }) => ({ vector, limit: Math.min(limit, plan.entries) }))
    const scan = { plan: plan.numbers, queries, bounds: table.bounds }
    const isShort = !thread || plan.rows < this.#worker_rows
    const found = isShort ? scanner.search(scan) : await thread.search(scan)
    return found.map((result, number) => this.#named(plan, result, queries[number]?.limit ?? 0))
  }

  #named(plan: ScanPlan, found: ScanResult, limit: number): Near[] {
    const { table } = this.#opened()
    const { entries, similarities, capabilities } = found
    function* all() {
      for (let index = 0; index < entries.length; index++) {
        const { id } = table.at(slotOf(plan, entries[index] ?? 0))
        yield near(id, similarities[index] ?? 0, capabilities[index] ?? 0)
      }
    }
    return takeFirst(all(), limit, bestFirst)
  }

  #scanning(table: VectorTable): Opened {
    const { memory } = table.pool
    const { dimensions } = this.#layout
    return {
      table,
      scanner: new Scanner(memory, this.#layout),
      thread: this.#worker && new ScanThread(this.#worker, { memory, dimensions }),
    }
  }

  #opened(): Opened {
    if (!this.#open) throw new VectorStoreError('unavailable', 'The vector store is closed.')
    return this.#open
  }
}

function near(id: string, similarity: number, capability: number): Near {
  return { id, similarity, capability: capability < 0 ? null : capability }
}
