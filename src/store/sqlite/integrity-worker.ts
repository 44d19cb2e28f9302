import { parentPort, workerData } from 'node:worker_threads'
import { damageOf } from './integrity.ts'

parentPort?.postMessage(damageOf(workerData))
