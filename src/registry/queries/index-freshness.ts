import { setTimeout as pause } from 'node:timers/promises'
import type { Reader } from '../../store/store.ts'
import type { IndexTailer } from '../indexing/index-tailer.ts'
import type { VectorIndexSwitch } from '../indexing/vector-index-switch.ts'

export interface FreshnessOptions {
  readonly reader: Pick<Reader, 'latest'>
  readonly tailer: Pick<IndexTailer, 'ready' | 'applied_revision' | 'caughtUp' | 'is_failing'>
  readonly vectors?: Pick<VectorIndexSwitch, 'ready' | 'progress' | 'caughtUp' | 'is_failing'> | undefined
  /** Maximum time for which a search waits until the index holds what was committed at the start; without limit when absent. */
  readonly start_wait_ms?: number | undefined
}

const behind = 'The index cannot be brought up to date now: what changed lately may be missing here.'
const embedding =
  'The newest agents are found only by their words so far: the search by meaning does not have them yet.'

/** Changes by which the search by meaning may be behind for a moment, as it is after each write. */
const maxLag = 100

/** How far the index and its vectors follow the store. */
export class IndexFreshness {
  readonly #reader: FreshnessOptions['reader']
  readonly #tailer: FreshnessOptions['tailer']
  readonly #vectors: FreshnessOptions['vectors']
  readonly #start_wait_ms: number | undefined
  /** Resolves once the index holds what was committed at the start. */
  readonly #started: Promise<void>
  #isStarted = false

  constructor({ reader, tailer, vectors, start_wait_ms }: FreshnessOptions) {
    this.#reader = reader
    this.#tailer = tailer
    this.#vectors = vectors
    this.#start_wait_ms = start_wait_ms
    this.#started = Promise.all([tailer.ready, vectors?.ready]).then(() => {
      this.#isStarted = true
    })
  }

  /** The model of the search by meaning. */
  get model(): string | undefined {
    return this.#vectors?.progress().model
  }

  /** False if the index does not hold what was committed at the start within the time to wait. */
  async hasStarted(): Promise<boolean> {
    if (this.#isStarted) return true
    const waits = [this.#started]
    if (this.#start_wait_ms !== undefined) waits.push(pause(this.#start_wait_ms, undefined, { ref: false }))
    await Promise.race(waits)
    return this.#isStarted
  }

  /** True if everything derived has exactly this revision. */
  isSettledAt(revision: number): boolean {
    return [this.#tailer, this.#vectors?.progress()].every(
      (derived) => (derived?.applied_revision ?? revision) === revision,
    )
  }

  /** Waits until the index has applied every commit, so that callers find entries that they wrote through another gateway. */
  async upToDate(): Promise<number> {
    const revision = await this.#reader.latest()
    await this.#tailer.caughtUp(revision)
    return revision
  }

  /** An index elsewhere can lose changes, which a search is the first to see: it then catches up, in the background. */
  async catchingUp<Output extends { readonly degraded?: string | undefined }>(
    revision: number,
    find: () => Promise<Output>,
  ): Promise<Output> {
    const catchUp = () => {
      void this.#tailer.caughtUp(revision)
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

  /** What an answer may lack, if it lacks anything; vectors serve only searches with a text. */
  missing(hasText: boolean): string | undefined {
    const vectors = hasText ? this.#vectors : undefined
    if (this.#tailer.is_failing || vectors?.is_failing) return behind
    if (!vectors) return undefined
    const lag = this.#tailer.applied_revision - vectors.progress().applied_revision
    return lag > maxLag ? embedding : undefined
  }
}
