import { Worker } from 'node:worker_threads'

const resourceLimits = { maxOldGenerationSizeMb: 128, stackSizeMb: 4 }

/**
 * Runs one job in a thread of its own: `entry` reads `workerData`, and its first message is the result. The thread ends
 * with the job, so that one that hangs, or fills its memory, takes nothing else along. Throws the error of the thread,
 * and an Error when the deadline has passed.
 */
export async function inThread<Result>(
  entry: URL,
  workerData: unknown,
  deadline_ms: number,
): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>()
  const worker = new Worker(entry, { workerData, resourceLimits, env: {}, execArgv: [] })
  const late = () => reject(new Error(`The job took longer than ${deadline_ms} ms.`))
  const timer = setTimeout(late, deadline_ms)
  worker.once('message', resolve)
  worker.once('error', reject)
  worker.once('exit', () => reject(new Error('The thread ended without a result.')))
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    await worker.terminate()
  }
}
