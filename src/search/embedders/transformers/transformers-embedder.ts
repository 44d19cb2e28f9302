import { resolve } from 'node:path'
import { Failure } from '../../../../schemas/failure.ts'
import { abortable } from '../../../common/abort.ts'
import { batchesOf, cut } from '../batches.ts'
import type { Embedder, TextEmbedding } from '../embedder.ts'
import { embedderClosed, PrioritySemaphore, type Purpose } from '../priority-semaphore.ts'
import { startThread, type Thread } from './thread.ts'

export interface TransformersEmbedderOptions {
  /** Folder of the model in the layout of Hugging Face. */
  readonly folder: string
  /** The entry of the thread: worker.ts, or its build output. */
  readonly worker: URL
  /** A folder whose node_modules may hold @huggingface/transformers. */
  readonly extras?: string | undefined
  /** Threads that one computation may use; 1 when absent. */
  readonly threads?: number
  /** Time limit for loading the model; 60,000 ms when absent. */
  readonly start_ms?: number
  /** Time limit for a batch of a few texts; 30,000 ms when absent. */
  readonly batch_ms?: number
  /** Maximum number of waiting calls; 256 when absent. */
  readonly waiting_limit?: number
}

/** Limits the thread's work between two checks for waiting queries to some 50 ms. */
const batchLimits = { texts: 8, characters: 8_000 }

/**
 * An embedder that runs a local sentence model in a separate thread, with the optional package
 * @huggingface/transformers. Throws Failure `unavailable` with a hint if the package or the model is missing or does
 * not work.
 *
 * A crash of the thread fails the current call, and the next call starts another thread. If that thread crashes too
 * before it has embedded a text, no further thread is started. Embedding throws Failure `unavailable` or `internal`.
 */
export async function createTransformersEmbedder(options: TransformersEmbedderOptions): Promise<Embedder> {
  const { worker, threads = 1 } = options
  const { start_ms = 60_000, batch_ms = 30_000, waiting_limit = 256 } = options
  // The package would read a path of the form NAME/NAME as a model of its hub.
  const folder = resolve(options.folder)
  const setup = { folder, extras: options.extras && resolve(options.extras), threads }
  const start = () => startThread({ worker, setup, start_ms, embed_ms: batch_ms })
  let thread = start()
  let mayRestart = true
  const { model } = await thread
  const semaphore = new PrioritySemaphore({ slots: 1, max_waiting: waiting_limit })
  let isClosed = false

  async function living(): Promise<Thread> {
    const last = await thread
    if (isClosed) throw embedderClosed()
    if (!last.has_ended) return last
    if (!mayRestart)
      throw new Failure('unavailable', 'The embedding model crashed again and is not restarted.')
    mayRestart = false
    thread = restart()
    return thread
  }

  async function restart(): Promise<Thread> {
    const started = await start()
    if (started.model.name === model.name) return started
    await started.end()
    throw new Failure('unavailable', `The model was ${model.name} and is now ${started.model.name}.`)
  }

  async function run(texts: readonly string[]): Promise<readonly Float32Array[]> {
    const vectors = await (await living()).embed(texts)
    mayRestart = true
    return texts.map((_, index) => vectors.slice(index * model.dimensions, (index + 1) * model.dimensions))
  }

  /** Holds the slot until the thread has finished, even if the caller aborts earlier. */
  async function ask(batch: readonly string[], as: Purpose, signal: AbortSignal) {
    const slot = await semaphore.acquire(as, signal)
    return abortable(
      run(batch).finally(() => slot[Symbol.dispose]()),
      signal,
    )
  }

  return {
    model: model.name,
    dimensions: model.dimensions,
    async embed(texts, as, signal) {
      signal.throwIfAborted()
      const found: Float32Array[] = []
      for (const batch of batchesOf(texts.filter(isKnown).map(cut), batchLimits)) {
        found.push(...(await ask(batch, as, signal)))
      }
      const vectors = found.values()
      return texts.map((text): TextEmbedding => {
        const vector = isKnown(text) ? vectors.next().value : undefined
        return { vector: vector ?? new Float32Array(model.dimensions), coverage: vector ? 1 : 0 }
      })
    },
    async [Symbol.asyncDispose]() {
      isClosed = true
      semaphore[Symbol.dispose]()
      const last = await thread.catch(() => undefined)
      await last?.end()
    },
  }
}

/** The models are English: a text without a Latin letter or a digit has no meaning to them. */
function isKnown(text: string): boolean {
  return /[\p{Script=Latin}\p{Nd}]/u.test(text)
}
