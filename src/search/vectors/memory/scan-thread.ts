import { Worker } from 'node:worker_threads'
import { VectorStoreError } from '../vector-store-error.ts'
import type { Scan, ScanResult } from './scanner.ts'

/** The start data of the thread. */
export interface Shared {
  readonly memory: WebAssembly.Memory
  readonly dimensions: number
}

interface Waiting {
  resolve(found: ScanResult[]): void
  reject(reason: unknown): void
}

/** A thread that scans the same memory. It is started at first use, and replaced if it breaks. */
export class ScanThread implements AsyncDisposable {
  readonly #entry: URL
  readonly #shared: Shared
  #worker: Worker | undefined
  #waiting: Waiting | undefined

  constructor(entry: URL, shared: Shared) {
    this.#entry = entry
    this.#shared = shared
  }

  /** Runs one scan at a time. */
  search(scan: Scan): Promise<ScanResult[]> {
    this.#worker ??= this.#start()
    const worker = this.#worker
    worker.ref()
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      worker.postMessage(scan)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    this.#settle((waiting) =>
      waiting.reject(new VectorStoreError('unavailable', 'The vector store is closed.')),
    )
    await worker?.terminate()
  }

  #start(): Worker {
    const worker = new Worker(this.#entry, { workerData: this.#shared, env: {}, execArgv: [] })
    const lose = (error: unknown) => {
      if (worker !== this.#worker) return
      this.#worker = undefined
      this.#settle((waiting) => waiting.reject(threadError(error)))
    }
    worker.on('message', (found: ScanResult[]) => {
      worker.unref()
      this.#settle((waiting) => waiting.resolve(found))
    })
    worker.on('error', lose)
    worker.on('exit', () => lose(new Error('The thread that scans vectors ended.')))
    worker.unref()
    return worker
  }

  #settle(settle: (waiting: Waiting) => void): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting) settle(waiting)
  }
}

function threadError(cause: unknown): VectorStoreError {
  return new VectorStoreError('internal', 'The thread that scans vectors failed.', { cause })
}
