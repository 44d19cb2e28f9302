import { Worker } from 'node:worker_threads'
import { Failure } from '../../schemas/failure.ts'
import type { Extract, Extracted, ExtractJob } from './port.ts'

export interface ExtractorOptions {
  /** The entry of the thread: worker.ts, or what the build made of it. */
  readonly worker: URL
  /** How long one page may take, the thread's own start included. */
  readonly deadline_ms?: number
  /** How many pages may wait. */
  readonly queue_limit?: number
}

export interface Extractor extends AsyncDisposable {
  readonly extract: Extract
}

interface Job {
  readonly page: ExtractJob
  settle(result: Extracted | Failure): void
}

type Answer = { readonly extracted: Extracted } | { readonly error: string }

const resourceLimits = { maxOldGenerationSizeMb: 512, stackSizeMb: 4 }

/** Threads given up but not yet dead; each may still hold a core, since native code ends when it likes. */
const mostDying = 2

/**
 * Reads pages one after another in a thread of their own, started at first use. A page over its time is
 * answered at once and its thread replaced, so the next page waits for no other's death.
 */
export function createExtractor(options: ExtractorOptions): Extractor {
  const { worker: entry, deadline_ms = 8_000, queue_limit = 32 } = options
  const waiting: Job[] = []
  const dying = new Set<Promise<unknown>>()
  let thread: Worker | undefined
  let running: Job | undefined
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  function start(): Worker {
    const worker = new Worker(entry, { resourceLimits, env: {}, execArgv: [] })
    worker.on('message', (answer: Answer) =>
      finish(worker, 'extracted' in answer ? answer.extracted : unreadable(answer.error)),
    )
    worker.on('error', (error) => replace(worker, broken(error)))
    worker.on('exit', () => replace(worker, broken(new Error('the thread ended'))))
    worker.unref()
    return worker
  }

  function finish(worker: Worker, result: Extracted | Failure): void {
    if (worker !== thread) return
    clearTimeout(timer)
    worker.unref()
    running?.settle(result)
    running = undefined
    next()
  }

  /** Gives a thread up with the page it was reading, and has another ready for the next one. */
  function replace(worker: Worker, failure: Failure): void {
    if (worker !== thread) return
    const death = worker.terminate()
    dying.add(death)
    void death.finally(() => {
      dying.delete(death)
      next()
    })
    thread = undefined
    if (running && !isClosed && dying.size < mostDying) thread = start()
    clearTimeout(timer)
    running?.settle(failure)
    running = undefined
    next()
  }

  function next(): void {
    if (running || isClosed || waiting.length === 0 || dying.size >= mostDying) return
    const job = waiting.shift()
    if (!job) return
    const worker = thread ?? start()
    thread = worker
    running = job
    worker.ref()
    timer = setTimeout(() => replace(worker, late(deadline_ms)), deadline_ms)
    worker.postMessage(job.page)
  }

  function extract(page: ExtractJob, signal: AbortSignal): Promise<Extracted> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(cancelled(signal))
      if (isClosed || waiting.length >= queue_limit) return reject(busy())
      const abort = () => {
        // A page being read goes on to its end or deadline: its thread is worth more than its time.
        if (waiting.includes(job)) waiting.splice(waiting.indexOf(job), 1)
        reject(cancelled(signal))
      }
      const job: Job = {
        page,
        settle(result) {
          signal.removeEventListener('abort', abort)
          if (result instanceof Failure) reject(result)
          else resolve(result)
        },
      }
      signal.addEventListener('abort', abort, { once: true })
      waiting.push(job)
      next()
    })
  }

  return {
    extract,
    async [Symbol.asyncDispose]() {
      isClosed = true
      for (const job of waiting.splice(0)) job.settle(busy())
      if (thread) replace(thread, busy())
      await Promise.all(dying)
    },
  }
}

function late(milliseconds: number): Failure {
  return new Failure('deadline_exceeded', `The page could not be read within ${milliseconds} ms.`)
}

function busy(): Failure {
  return new Failure('unavailable', 'Too many pages are waiting to be read.', { retry_after_s: 5 })
}

function cancelled({ reason }: AbortSignal): Failure {
  return reason instanceof Failure ? reason : new Failure('cancelled', 'The caller went away.')
}

function unreadable(error: string): Failure {
  return new Failure('upstream_invalid', 'The page could not be read as a document.', {}, new Error(error))
}

function broken(error: unknown): Failure {
  const isHeavy = error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
  if (!isHeavy) return Failure.from(error)
  return new Failure('upstream_invalid', 'The page takes more memory than reading may.', {}, error)
}
