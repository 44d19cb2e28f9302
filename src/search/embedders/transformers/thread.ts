import { SHARE_ENV, Worker } from 'node:worker_threads'
import { Failure } from '../../../../schemas/failure.ts'
import { embedderClosed } from '../priority-semaphore.ts'
import type { LoadedModel, Setup, ThreadAnswer } from './messages.ts'

interface ThreadOptions {
  /** The entry: worker.ts, or its build output. */
  readonly worker: URL
  readonly setup: Setup
  /** Time-out for loading the model, in milliseconds. */
  readonly start_ms: number
  /** Time-out for one list of texts, in milliseconds. */
  readonly embed_ms: number
}

/** A thread with its model loaded. It takes one list of texts at a time, and does not keep the process alive. */
export interface Thread {
  readonly model: LoadedModel
  /** True after the thread has crashed, exceeded its time limit or been ended. */
  readonly has_ended: boolean
  /** Throws Failure `unavailable` if the thread ends during the call, `internal` if the model fails. */
  embed(texts: readonly string[]): Promise<Float32Array>
  /** Waits for the current list; no further calls are allowed. */
  end(): Promise<void>
}

/** Time to wait for an ending thread. */
const maxEnd_ms = 5_000

/**
 * Starts a thread. Throws Failure `unavailable`, with a hint if the model cannot be loaded.
 *
 * A thread is never terminated: termination while onnxruntime works crashes the whole process. A thread is asked to
 * end, and a thread that does not respond is abandoned.
 */
export async function startThread(options: ThreadOptions): Promise<Thread> {
  const { worker: entry, setup, start_ms, embed_ms } = options
  const gone = Promise.withResolvers<void>()
  let turn: PromiseWithResolvers<ThreadAnswer> | undefined
  let hasEnded = false
  const worker = new Worker(entry, {
    workerData: setup,
    // The package reads its telemetry switch from the environment of the process itself.
    env: SHARE_ENV,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 1024 },
  })
  worker.on('message', (answer: ThreadAnswer) => turn?.resolve(answer))
  worker.on('error', (fault) => giveUp(crashed(fault)))
  worker.on('exit', () => {
    giveUp(crashed(new Error('the thread ended')))
    gone.resolve()
  })
  // Follows the listeners, since they reference the worker. Time limits keep the process alive while a call
  // is pending.
  worker.unref()

  function giveUp(failure: Failure): void {
    hasEnded = true
    worker.postMessage(null)
    turn?.reject(failure)
  }

  async function next(milliseconds: number, texts?: readonly string[]): Promise<ThreadAnswer> {
    turn = Promise.withResolvers()
    const timer = setTimeout(() => giveUp(late(milliseconds)), milliseconds)
    if (texts) worker.postMessage(texts)
    return turn.promise.finally(() => clearTimeout(timer))
  }

  async function end(): Promise<void> {
    giveUp(embedderClosed())
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, maxEnd_ms)
    await Promise.race([gone.promise, promise])
    clearTimeout(timer)
  }

  const first = await next(start_ms).catch((failure: Failure) => failure)
  if (first instanceof Failure || !('model' in first)) {
    await end()
    throw first instanceof Failure ? first : refused(first)
  }
  return {
    model: first.model,
    get has_ended() {
      return hasEnded
    },
    async embed(texts) {
      if (hasEnded) throw crashed(new Error('the thread had ended'))
      const answer = await next(embed_ms, texts)
      if ('vectors' in answer) return answer.vectors
      throw new Failure('internal', 'The embedding model failed.', {}, answer)
    },
    end,
  }
}

function refused(answer: ThreadAnswer): Failure {
  if (!('refused' in answer)) return crashed(answer)
  const { message, hint, cause } = answer.refused
  return new Failure('unavailable', message, hint === undefined ? {} : { hint }, cause)
}

function crashed(cause: unknown): Failure {
  return new Failure('unavailable', 'The thread of the embedding model crashed.', {}, cause)
}

function late(milliseconds: number): Failure {
  return new Failure('unavailable', `The embedding model did not answer within ${milliseconds} ms.`)
}
