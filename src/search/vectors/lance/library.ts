import { createRequire } from 'node:module'
import { env } from 'node:process'

type Lance = typeof import('@lancedb/lancedb')
type Arrow = typeof import('apache-arrow', { with: { 'resolution-mode': 'require' }})
export type Schema = InstanceType<Arrow['Schema']>
export type RecordBatch = InstanceType<Arrow['RecordBatch']>
export type ArrowTable = InstanceType<Arrow['Table']>

export interface LanceLibrary {
  readonly lance: Lance
  readonly arrow: Arrow
}

let loaded: Promise<LanceLibrary> | undefined

/** Loads LanceDB on first use: it is large and has a native part for some platforms only. */
export function loadLibrary(): Promise<LanceLibrary> {
  loaded ??= load()
  return loaded
}

async function load(): Promise<LanceLibrary> {
  // LanceDB otherwise logs warnings for every query; it reads this variable only while it is loaded.
  env.LANCE_LOG ??= 'error'
  const lance = await import('@lancedb/lancedb')
  // The copy of Arrow that LanceDB itself uses: LanceDB accepts no batches of another copy.
  const require = createRequire(import.meta.url)
  const arrow: Arrow = require('apache-arrow')
  return { lance, arrow }
}
