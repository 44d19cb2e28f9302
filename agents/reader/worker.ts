import { parentPort } from 'node:worker_threads'
import { Failure } from '../../schemas/failure.ts'
import type { ReaderJob, WorkerMessage } from './port.ts'
import { readJob } from './read-job.ts'

/** The entry of a worker thread: a job comes in, its result or error goes out. */
parentPort?.on('message', async (job: ReaderJob) => send(await attempt(job)))
send({ ready: true })

function send(message: WorkerMessage): void {
  parentPort?.postMessage(message)
}

async function attempt(job: ReaderJob): Promise<WorkerMessage> {
  try {
    return { extracted: await readJob(job) }
  } catch (error) {
    if (error instanceof Failure) {
      return { code: error.code, message: error.message, details: error.details }
    }
    return { error: error instanceof Error ? `${error.name}: ${error.message}` : String(error) }
  }
}
