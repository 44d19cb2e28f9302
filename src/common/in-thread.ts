import { Worker } from 'node:worker_threads'

const resourceLimits = { maxOldGenerationSizeMb: 128, stackSizeMb: 4 }
const look_ms = 100
/** A job that waits, or whose machine has more to do, may last this many times its CPU time. */
const wallFactor = 10

/**
 * Runs one job in a thread of its own: `entry` reads `workerData`, and its first message is the result. The thread ends
 * with the job, so that one that hangs, or fills its memory, takes nothing else along. Throws the error of the thread,
 * and an Error when the job has used `cpu_ms` of CPU time, or has taken ten times as long.
 */
export async function inThread<Result>(entry: URL, workerData: unknown, cpu_ms: number): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>()
  const worker = new Worker(entry, { workerData, resourceLimits, env: {}, execArgv: [] })
  const late = (limit: string) => reject(new Error(`The job took more than ${limit}.`))
  const timers = [
    setTimeout(late, cpu_ms * wallFactor, `${cpu_ms * wallFactor} ms`),
    // A thread that has ended has no usage, and a result or an error.
    setInterval(() => worker.cpuUsage().then(endAbove, () => {}), look_ms),
  ]
  function endAbove({ user, system }: NodeJS.CpuUsage): void {
    if ((user + system) / 1000 > cpu_ms) late(`${cpu_ms} ms of CPU time`)
  }
  worker.once('message', resolve)
  worker.once('error', reject)
  worker.once('exit', () => reject(new Error('The thread ended without a result.')))
  try {
    return await promise
  } finally {
    for (const timer of timers) clearTimeout(timer)
    await worker.terminate()
  }
}
