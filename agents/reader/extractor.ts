import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { Failure } from '../../schemas/failure.ts'
import { createFairQueue, type FairQueue } from './fair-queue.ts'
import type { ExtractDocument, Extracted, ReaderJob, WorkerMessage } from './port.ts'

interface ExtractorOptions {
  /** Entry module of a thread: worker.ts, or its compiled form. */
  readonly worker: URL
  /** The number of cores when absent. */
  readonly threads?: number
  /** Milliseconds for one document from the start of its reading; 2,500 when absent. */
  readonly deadline_ms?: number
  /** Maximum number of waiting documents, in addition to one for each thread; 64 when absent. */
  readonly queue_limit?: number
}

export interface Extractor extends AsyncDisposable {
  readonly extract: ExtractDocument
}

interface Task {
  readonly job: ReaderJob
  settle(result: Extracted | Failure): void
}

interface Thread {
  readonly worker: Worker
  /** True once the thread's modules are loaded. */
  isReady: boolean
  task: Task | undefined
  timer: NodeJS.Timeout | undefined
}

const resourceLimits = { maxOldGenerationSizeMb: 384, stackSizeMb: 4 }

/**
 * Reads documents in worker threads, which are started on demand. A document that exceeds its deadline is answered at
 * once and its thread replaced, so that no task waits for the end of a thread. Callers take turns.
 */
class WorkerExtractor implements Extractor {
  readonly #entry: URL
  readonly #deadline_ms: number
  readonly #maxThreads: number
  readonly #waiting: FairQueue<Task>
  readonly #threads = new Set<Thread>()
  /**
   * Terminated threads that have not ended. Each may still occupy a core, since running native code delays the end of
   * a thread.
   */
  readonly #terminating = new Set<Promise<unknown>>()
  #isClosed = false

  constructor({ worker, threads, deadline_ms = 2_500, queue_limit = 64 }: ExtractorOptions) {
    this.#entry = worker
    this.#deadline_ms = deadline_ms
    this.#maxThreads = Math.max(1, threads ?? availableParallelism())
    this.#waiting = createFairQueue(queue_limit + this.#maxThreads)
  }

  readonly extract: ExtractDocument = (job, signal, caller = '') =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(Failure.cancelled(signal))
      if (this.#isClosed) return reject(busy())
      const abort = () => {
        // A document that is being read continues to its end or deadline: stopping it would cost a thread.
        this.#waiting.remove(task)
        reject(Failure.cancelled(signal))
      }
      const task: Task = {
        job,
        settle(result) {
          signal.removeEventListener('abort', abort)
          if (result instanceof Failure) reject(result)
          else resolve(result)
        },
      }
      signal.addEventListener('abort', abort, { once: true })
      this.#waiting.add(caller, task)?.settle(busy())
      this.#schedule()
    })

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    while (this.#waiting.size > 0) this.#waiting.take()?.settle(busy())
    for (const thread of this.#threads) this.#terminate(thread, busy())
    await Promise.all(this.#terminating)
  }

  #startThread(): void {
    const worker = new Worker(this.#entry, { resourceLimits, env: {}, execArgv: [] })
    const thread: Thread = { worker, isReady: false, task: undefined, timer: undefined }
    this.#threads.add(thread)
    worker.on('message', (message: WorkerMessage) => {
      if ('ready' in message) thread.isReady = true
      else settle(thread, 'extracted' in message ? message.extracted : failureOf(message))
      this.#schedule()
    })
    worker.on('error', (error) => this.#terminate(thread, broken(error)))
    worker.on('exit', () => this.#terminate(thread, broken(new Error('the thread ended'))))
  }

  /** Ends a thread and its task, and starts a new thread for the next task. */
  #terminate(thread: Thread, failure: Failure): void {
    if (!this.#threads.delete(thread)) return
    const ended = thread.worker.terminate()
    this.#terminating.add(ended)
    void ended.finally(() => {
      this.#terminating.delete(ended)
      this.#schedule()
    })
    settle(thread, failure)
    // A thread that cannot start fails a task: otherwise threads would be started repeatedly without an
    // error.
    if (!thread.isReady) this.#waiting.take()?.settle(failure)
    else if (this.#mayStart()) this.#startThread()
    this.#schedule()
  }

  #mayStart(): boolean {
    return (
      !this.#isClosed && this.#threads.size < this.#maxThreads && this.#terminating.size < this.#maxThreads
    )
  }

  /** Gives waiting tasks to idle threads and starts missing threads. */
  #schedule(): void {
    const isIdle = ({ isReady, task }: Thread) => isReady && !task
    for (const thread of [...this.#threads].filter(isIdle)) {
      const task = this.#waiting.take()
      if (task) this.#run(thread, task)
      else thread.worker.unref()
    }
    // While one thread reads, a spare one is kept for the case that the reading thread is terminated.
    const isReading = [...this.#threads].some(({ task }) => task)
    const needed = this.#waiting.size + (isReading ? 1 : 0)
    const idle = [...this.#threads].filter(({ task }) => !task).length
    for (let missing = needed - idle; missing > 0 && this.#mayStart(); missing--) this.#startThread()
  }

  #run(thread: Thread, task: Task): void {
    thread.task = task
    thread.worker.ref()
    const deadline_ms = this.#deadline_ms
    thread.timer = setTimeout(() => this.#terminate(thread, late(deadline_ms)), deadline_ms)
    thread.worker.postMessage(task.job)
  }
}

export function createExtractor(options: ExtractorOptions): Extractor {
  return new WorkerExtractor(options)
}

function settle(thread: Thread, result: Extracted | Failure): void {
  clearTimeout(thread.timer)
  thread.task?.settle(result)
  thread.task = undefined
}

function late(milliseconds: number): Failure {
  return new Failure('deadline_exceeded', `The page could not be read within ${milliseconds} ms.`)
}

function busy(): Failure {
  return new Failure('unavailable', 'Too many pages wait to be read.', { retry_after_s: 5 })
}

function failureOf(answer: Exclude<WorkerMessage, { ready: true } | { extracted: Extracted }>): Failure {
  if ('code' in answer) return new Failure(answer.code, answer.message, answer.details)
  const cause = new Error(answer.error)
  return new Failure('upstream_invalid', 'The page could not be read as a document.', {}, cause)
}

function broken(error: unknown): Failure {
  const isOutOfMemory = error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
  if (!isOutOfMemory) return Failure.from(error)
  return new Failure(
    'upstream_invalid',
    'The page needs more memory than a reader thread may use.',
    {},
    error,
  )
}
