import { parentPort } from 'node:worker_threads'
import { extract } from './extract.ts'
import type { ExtractJob } from './port.ts'

/** The entry of the thread that pages are read in: a job comes in, what it says or why not goes out. */
parentPort?.on('message', (job: ExtractJob) => {
  parentPort?.postMessage(attempt(job))
})

function attempt(job: ExtractJob) {
  try {
    return { extracted: extract(job) }
  } catch (error) {
    return { error: error instanceof Error ? `${error.name}: ${error.message}` : String(error) }
  }
}
