import { createRequire } from 'node:module'
import { env } from 'node:process'
import { findPackage } from '../../../common/optional-package.ts'
import { VectorStoreError } from '../vector-store-error.ts'

type Lance = typeof import('@lancedb/lancedb')
type Arrow = typeof import('apache-arrow', { with: { 'resolution-mode': 'require' }})
export type Schema = InstanceType<Arrow['Schema']>
export type RecordBatch = InstanceType<Arrow['RecordBatch']>
export type ArrowTable = InstanceType<Arrow['Table']>

export interface LanceLibrary {
  readonly lance: Lance
  readonly arrow: Arrow
}

const packageName = '@lancedb/lancedb'
const loaded = new Map<string, LanceLibrary>()

/**
 * Loads LanceDB on first use: it is large, and has a native part for some platforms only. Throws VectorStoreError
 * `not_configured` with the command that installs it.
 */
export function loadLibrary(extras: string | undefined): LanceLibrary {
  const [found] = findPackage(packageName, extras)
  if (!found) {
    throw new VectorStoreError('not_configured', `The optional package ${packageName} is not installed.`, {
      hint: 'Install it with dragoman extras add lance, or set DRAGOMAN_VECTORS=memory.',
    })
  }
  const library = loaded.get(found.path) ?? load(found.require, found.path)
  loaded.set(found.path, library)
  return library
}

function load(require: NodeJS.Require, path: string): LanceLibrary {
  // LanceDB otherwise logs warnings for every query; it reads this variable only while it is loaded.
  env.LANCE_LOG ??= 'error'
  const lance: Lance = require(path)
  // The copy of Arrow that LanceDB itself uses: LanceDB accepts no batches of another copy.
  const arrow: Arrow = createRequire(path)('apache-arrow')
  return { lance, arrow }
}
