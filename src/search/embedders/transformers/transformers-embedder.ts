import { resolve } from 'node:path'
import { Failure } from '../../../../schemas/failure.ts'
import { abortable } from '../../../common/abort.ts'
import { batchesOf, cut } from '../batches.ts'
import type { Embedder, TextEmbedding } from '../embedder.ts'
import { embedderClosed, PrioritySemaphore, type Purpose } from '../priority-semaphore.ts'
import { startThread, type Thread } from './thread.ts'

export interface TransformersEmbedderOptions {
  /** Of the model, as Hugging Face lays it out. */
  readonly folder: string
  /** The entry of the thread: worker.ts, or what the build made of it. */
  readonly worker: URL
  /** A folder whose node_modules may hold @huggingface/transformers. */
  readonly extras?: string | undefined
  /** That one computation may use; 1 when absent. */
  readonly threads?: number
  /** How long loading the model may take; 60,000 ms when absent. */
  readonly start_ms?: number
  /** How long a batch of a few texts may take; 30,000 ms when absent. */
  readonly batch_ms?: number
  /** How many calls may wait; 256 when absent. */
  readonly waiting_limit?: number
}

/** What the thread does before it looks for queries that wait: some 50 ms of work. */
const batchLimits = { texts: 8, characters: 8_000 }

/**
 * An embedder that runs a sentence model of this machine in a thread of its own, by the optional package
 * @huggingface/transformers. Throws Failure `unavailable` with a hint where the package or the model is missing or
 * does not work.
 *
 * A crash of the thread fails the call that it worked on, and the next call starts another thread; if that crashes
 * too before it has embedded anything, it was the last. Embedding throws Failure `unavailable` or `internal`.
 */
export async function createTransformersEmbedder(options: TransformersEmbedderOptions): Promise<Embedder> {
  const { worker, threads = 1 } = options
  const { start_ms = 60_000, batch_ms = 30_000, waiting_limit = 256 } = options
  // The package takes what looks like NAME/NAME for a model of its own hub.
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
      throw new Failure('unavailable', 'The embedding model broke down again and is left alone.')
    mayRestart = false
    thread = restart()
    return thread
  }

  async function restart(): Promise<Thread> {
    const started = await start()
    if (started.model.name === model.name) return started
    await started.end()
    throw new Failure('unavailable', `The model was ${model.name} and now is ${started.model.name}.`)
  }

  async function run(texts: readonly string[]): Promise<readonly Float32Array[]> {
    const vectors = await (await living()).embed(texts)
    mayRestart = true
    return texts.map((_, index) => vectors.slice(index * model.dimensions, (index + 1) * model.dimensions))
  }

  /** Holds the slot until the thread has done its work, even if the caller aborts before. */
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

/** The models in question are English: of a text without a Latin letter or a digit they know nothing. */
function isKnown(text: string): boolean {
  return /[\p{Script=Latin}\p{Nd}]/u.test(text)
}
