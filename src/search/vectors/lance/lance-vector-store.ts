import { setInterval } from 'node:timers'
import { abortable } from '../../../common/abort.ts'
import { SerialQueue } from '../../../common/serial-queue.ts'
import { inSlices } from '../../../common/time-slices.ts'
import { type AttributeFilter, checkFilter } from '../attributes.ts'
import { checkChange, checkVector } from '../check.ts'
import type { Near, VectorChange, VectorStore } from '../vector-store.ts'
import { VectorStoreError } from '../vector-store-error.ts'
import { DamageError } from './damage-error.ts'
import { Folder } from './folder.ts'
import { Generation, type GenerationOptions } from './generation.ts'
import { type LanceLibrary, loadLibrary } from './library.ts'
import { compareRows, findNearest, type RowSource } from './nearest.ts'

export interface LanceVectorStoreOptions extends Partial<Omit<GenerationOptions, 'dimensions'>> {
  readonly folder: string
  readonly dimensions: number
  /** Folder of optional packages that are not installed beside the gateway. */
  readonly extras?: string
  /** Milliseconds since the epoch. */
  readonly clock?: () => number
  /** Interval of compactions if there were commits. Many commits start a compaction too. */
  readonly optimize_every_ms?: number
  /** Maximum delay until commits of other processes are visible. */
  readonly refresh_ms?: number
  /**
   * Called with the cause when all rows were dropped. `applied_revision` is then 0, and all entries must be applied
   * again.
   */
  readonly on_rebuild?: (cause: unknown) => void
}

const commitsUntilOptimized = 64
const mebibyte = 2 ** 20

/** Opens the store in the folder; a damaged store is replaced by an empty one at revision 0. */
export async function openLanceVectorStore(options: LanceVectorStoreOptions): Promise<VectorStore> {
  const library = loadLibrary(options.extras)
  const store = new LanceVectorStore(library, options)
  await store.open()
  return store
}

class LanceVectorStore implements VectorStore {
  readonly #library: LanceLibrary
  readonly #options: Required<LanceVectorStoreOptions>
  readonly #folder: Folder
  readonly #turns = new SerialQueue()
  #generation: Generation | undefined
  #name: string | undefined
  #isClosed = false
  #isSuspected = false
  /** True while the caller's next changes may build on rows that were dropped. */
  #isReset = false
  #refreshed = Number.NEGATIVE_INFINITY
  #refreshing: Promise<void> | undefined
  #commits = 0
  #timer: NodeJS.Timeout | undefined

  constructor(library: LanceLibrary, options: LanceVectorStoreOptions) {
    this.#library = library
    this.#options = {
      clock: () => performance.now(),
      index_cache: 16 * mebibyte,
      metadata_cache: 64 * mebibyte,
      exact_rows: 50_000,
      grace_ms: 60_000,
      checked_bytes: 4096 * mebibyte,
      optimize_every_ms: 5 * 60_000,
      refresh_ms: 1000,
      on_rebuild: () => undefined,
      extras: '',
      ...options,
    }
    this.#folder = new Folder(options.folder, options.dimensions)
  }

  get applied_revision(): number {
    return this.#generation?.snapshot.revision ?? 0
  }

  async open(): Promise<void> {
    const before = await this.#folder.current()
    if (before === undefined) await this.#renew(undefined)
    else {
      try {
        await this.#enter(before)
      } catch (fault) {
        await this.#renew(before)
        this.#options.on_rebuild(fault)
      }
    }
    this.#isReset = false
    this.#timer = setInterval(() => void this.#optimize(), this.#options.optimize_every_ms)
    this.#timer.unref()
  }

  async apply(changes: readonly VectorChange[], revision: number): Promise<void> {
    const before = this.#generation
    return this.#turns.take(async () => {
      await inSlices(changes, (change) => checkChange(change, this.#options.dimensions))
      const generation = await this.#writable(before)
      const entries = new Map(changes.map(({ id, entry }) => [id, entry]))
      try {
        await generation.write(entries, revision)
      } catch (fault) {
        if (isFull(fault))
          throw new VectorStoreError('storage_full', 'No space is left for vectors.', { cause: fault })
        this.#suspect(fault)
        throw new VectorStoreError('unavailable', 'The vectors could not be written.', { cause: fault })
      }
      this.#commits++
      if (this.#commits >= commitsUntilOptimized) void this.#optimize()
    })
  }

  async nearest(vector: Float32Array, filter: AttributeFilter, limit: number, signal: AbortSignal) {
    return this.#ask(vector, filter, signal, (source) => findNearest(source, vector, limit))
  }

  async compare(vector: Float32Array, ids: readonly string[], signal: AbortSignal) {
    return this.#ask(vector, {}, signal, ({ rowsOf }) => compareRows(rowsOf, vector, ids))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    await this.#turns.take(async () => {
      this.#generation?.close()
      this.#generation = undefined
    })
  }

  async #ask(
    vector: Float32Array,
    filter: AttributeFilter,
    signal: AbortSignal,
    work: (source: RowSource) => Promise<Near[]>,
  ): Promise<readonly Near[]> {
    signal.throwIfAborted()
    this.#opened()
    checkVector(vector, this.#options.dimensions)
    checkFilter(filter)
    return abortable(this.#answer(vector, filter, signal, work), signal)
  }

  async #answer(
    vector: Float32Array,
    filter: AttributeFilter,
    signal: AbortSignal,
    work: (source: RowSource) => Promise<Near[]>,
  ): Promise<Near[]> {
    try {
      await this.#refresh()
      for (;;) {
        const generation = this.#opened()
        const { snapshot } = generation
        try {
          const near = await work(stoppable(generation.source(vector, filter), signal))
          await generation.sums.verifyUntouched()
          return near
        } catch (fault) {
          signal.throwIfAborted()
          // The files of a snapshot are removed once newer ones exist.
          await this.#opened().refresh()
          if (fault instanceof DamageError || this.#opened().snapshot === snapshot) throw fault
        }
      }
    } catch (fault) {
      signal.throwIfAborted()
      if (fault instanceof VectorStoreError) throw fault
      if (!this.#isClosed) this.#suspect(fault)
      throw new VectorStoreError('unavailable', 'The vectors cannot be read now.', {
        retry_after_s: 1,
        cause: fault,
      })
    }
  }

  /** Makes the commits and rebuilds of other processes visible. */
  async #refresh(): Promise<void> {
    if (this.#options.clock() - this.#refreshed < this.#options.refresh_ms) return
    this.#refreshing ??= this.#catchUp().finally(() => {
      this.#refreshing = undefined
    })
    await this.#refreshing
  }

  async #catchUp(): Promise<void> {
    this.#refreshed = this.#options.clock()
    const generation = this.#opened()
    if ((await this.#folder.current()) === this.#name) await generation.refresh()
    else this.#suspect(new Error('Another generation is in use.'))
  }

  /** The generation to write to. Throws if it is not the generation that the caller's changes build on. */
  async #writable(before: Generation | undefined): Promise<Generation> {
    const generation = this.#opened()
    const { revision } = generation.snapshot
    const isCurrent = (await this.#folder.current()) === this.#name
    if (isCurrent) await generation.refresh().catch((fault) => this.#suspect(fault))
    else this.#suspect(new Error('Another generation is in use.'))
    const isBack = generation.snapshot.revision < revision
    if (isCurrent && !isBack && !this.#isReset && !this.#isSuspected && generation === before)
      return generation
    this.#isReset = false
    throw new VectorStoreError(
      'unavailable',
      'The vectors were rebuilt; apply changes from their applied revision on.',
    )
  }

  /** Called after an error: queues a check of the files, and rebuilds the store if they are damaged. */
  #suspect(cause: unknown): void {
    if (this.#isSuspected || this.#isClosed) return
    this.#isSuspected = true
    void this.#turns
      .take(() => this.#recover(cause))
      // The next call finds the fault again.
      .catch(() => undefined)
      .finally(() => {
        this.#isSuspected = false
      })
  }

  async #recover(cause: unknown): Promise<void> {
    if (this.#isClosed) return
    const { applied_revision } = this
    const current = await this.#folder.current()
    const name = current ?? this.#name
    const isKnownBad = cause instanceof DamageError && name === this.#name
    if (!name || isKnownBad || !(await this.#isEntered(name))) await this.#renew(current)
    else if (!current) await this.#folder.swap(name, undefined)
    this.#isReset = this.applied_revision < applied_revision
    if (this.#isReset) this.#options.on_rebuild(cause)
  }

  #isEntered(name: string): Promise<boolean> {
    return this.#enter(name).then(
      () => true,
      () => false,
    )
  }

  async #enter(name: string): Promise<void> {
    const generation = await Generation.open(this.#library, this.#folder.pathOf(name), this.#settings())
    this.#replace(generation, name)
    await this.#folder.clean(name)
  }

  /** Starts an empty generation, unless another process just has. */
  async #renew(before: string | undefined): Promise<void> {
    const added = await this.#folder.add()
    const generation = await Generation.create(this.#library, this.#folder.pathOf(added), this.#settings())
    const name = await this.#folder.swap(added, before)
    if (name !== added) return this.#enter(name)
    this.#replace(generation, name)
    await this.#folder.clean(name, before)
  }

  #replace(generation: Generation, name: string): void {
    // Running reads keep the previous generation open.
    this.#generation = generation
    this.#name = name
    this.#commits = 0
  }

  async #optimize(): Promise<void> {
    if (this.#commits === 0) return
    this.#commits = 0
    await this.#turns
      .take(async () => {
        if (!this.#isClosed) await this.#opened().optimize()
      })
      .catch((fault) => this.#suspect(fault))
  }

  #settings(): GenerationOptions {
    return this.#options
  }

  #opened(): Generation {
    if (!this.#generation || this.#isClosed)
      throw new VectorStoreError('unavailable', 'The vector store is closed.')
    return this.#generation
  }
}

/** Stops reading once the signal has aborted. */
function stoppable(source: RowSource, signal: AbortSignal): RowSource {
  return {
    top: (depth) => {
      signal.throwIfAborted()
      return source.top(depth)
    },
    rowsOf: (ids) => {
      signal.throwIfAborted()
      return source.rowsOf(ids)
    },
    names: () => source.names(),
  }
}

function isFull(fault: unknown): boolean {
  return fault instanceof Error && /no space left|os error 28|disk quota/i.test(fault.message)
}
