import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { Failure } from '../../schemas/failure.ts'
import { createFairQueue } from './fair-queue.ts'
import type { Extract, Extracted, Job, WorkerMessage } from './port.ts'

export interface ExtractorOptions {
  /** The entry of a thread: worker.ts, or what the build made of it. */
  readonly worker: URL
  /** As many as there are cores when absent. */
  readonly threads?: number
  /** How long one page may take, once its thread has begun with it; 2,500 ms when absent. */
  readonly deadline_ms?: number
  /** How many pages may wait, beside one for each thread; 64 when absent. */
  readonly queue_limit?: number
}

export interface Extractor extends AsyncDisposable {
  readonly extract: Extract
}

interface Task {
  readonly job: Job
  settle(result: Extracted | Failure): void
}

interface Thread {
  readonly worker: Worker
  /** Its modules are loaded. */
  isReady: boolean
  task: Task | undefined
  timer: NodeJS.Timeout | undefined
}

const resourceLimits = { maxOldGenerationSizeMb: 384, stackSizeMb: 4 }

/**
 * Reads pages in threads of their own, started as they are needed. A page over its time is answered at once and its
 * thread replaced, so that nobody waits for a thread's death. Callers take turns.
 */
export function createExtractor(options: ExtractorOptions): Extractor {
  const { worker: entry, deadline_ms = 2_500, queue_limit = 64 } = options
  const most = Math.max(1, options.threads ?? availableParallelism())
  const waiting = createFairQueue<Task>(queue_limit + most)
  const threads = new Set<Thread>()
  /** Given up but not yet dead; each may still hold a core, since native code ends when it likes. */
  const dying = new Set<Promise<unknown>>()
  let isClosed = false

  function start(): void {
    const worker = new Worker(entry, { resourceLimits, env: {}, execArgv: [] })
    const thread: Thread = { worker, isReady: false, task: undefined, timer: undefined }
    threads.add(thread)
    worker.on('message', (answer: WorkerMessage) => {
      if ('ready' in answer) thread.isReady = true
      else settle(thread, 'extracted' in answer ? answer.extracted : failureOf(answer))
      next()
    })
    worker.on('error', (error) => giveUp(thread, broken(error)))
    worker.on('exit', () => giveUp(thread, broken(new Error('the thread ended'))))
  }

  function settle(thread: Thread, result: Extracted | Failure): void {
    clearTimeout(thread.timer)
    thread.task?.settle(result)
    thread.task = undefined
  }

  /** Lets a thread go with the page it was reading, and has another ready for the next one. */
  function giveUp(thread: Thread, failure: Failure): void {
    if (!threads.delete(thread)) return
    const death = thread.worker.terminate()
    dying.add(death)
    void death.finally(() => {
      dying.delete(death)
      next()
    })
    settle(thread, failure)
    // A thread that cannot start would be started for ever, were nobody told.
    if (!thread.isReady) waiting.take()?.settle(failure)
    else if (hasRoom()) start()
    next()
  }

  function hasRoom(): boolean {
    return !isClosed && threads.size < most && dying.size < most
  }

  function next(): void {
    const isIdle = ({ isReady, task }: Thread) => isReady && !task
    for (const thread of [...threads].filter(isIdle)) {
      const task = waiting.take()
      if (task) give(thread, task)
      else thread.worker.unref()
    }
    // While one reads another is there already, should that one have to be let go.
    const wanted = waiting.size + ([...threads].some(({ task }) => task) ? 1 : 0)
    const coming = [...threads].filter(({ task }) => !task).length
    for (let missing = wanted - coming; missing > 0 && hasRoom(); missing--) start()
  }

  function give(thread: Thread, task: Task): void {
    thread.task = task
    thread.worker.ref()
    thread.timer = setTimeout(() => giveUp(thread, late(deadline_ms)), deadline_ms)
    thread.worker.postMessage(task.job)
  }

  function extract(job: Job, signal: AbortSignal, caller = ''): Promise<Extracted> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(cancelled(signal))
      if (isClosed) return reject(busy())
      const abort = () => {
        // A page being read goes on to its end or deadline: its thread is worth more than its time.
        waiting.remove(task)
        reject(cancelled(signal))
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
      waiting.add(caller, task)?.settle(busy())
      next()
    })
  }

  return {
    extract,
    async [Symbol.asyncDispose]() {
      isClosed = true
      while (waiting.size > 0) waiting.take()?.settle(busy())
      for (const thread of threads) giveUp(thread, busy())
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

function failureOf(answer: Exclude<WorkerMessage, { ready: true } | { extracted: Extracted }>): Failure {
  if ('code' in answer) return new Failure(answer.code, answer.message, answer.details)
  const cause = new Error(answer.error)
  return new Failure('upstream_invalid', 'The page could not be read as a document.', {}, cause)
}

function broken(error: unknown): Failure {
  const isHeavy = error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
  if (!isHeavy) return Failure.from(error)
  return new Failure('upstream_invalid', 'The page takes more memory than reading may.', {}, error)
}
