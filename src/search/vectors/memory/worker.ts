import { parentPort, workerData } from 'node:worker_threads'
import { layoutOf } from './layout.ts'
import type { Shared } from './scan-thread.ts'
import { type Scan, Scanner } from './scanner.ts'

/**
 * The entry of the thread that scans the shared memory: an incoming message is a scan, an outgoing message is its
 * result.
 */
const { memory, dimensions }: Shared = workerData
const scanner = new Scanner(memory, layoutOf(dimensions, 'scan'))

parentPort?.on('message', (scan: Scan) => parentPort?.postMessage(scanner.search(scan)))
