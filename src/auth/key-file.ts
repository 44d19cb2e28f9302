import { hash, randomUUID } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { z } from 'zod'
import { Failure } from '../../schemas/failure.ts'
import { parseJson } from '../common/json.ts'
import { ensurePrivateFile, privateFile, writePrivateFileOnce } from '../common/private-file.ts'
import { generateJwk } from './key.ts'

const Jwk = z.looseObject({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: z.string(), d: z.string() })

/** One key of the file. Times in milliseconds since the epoch. */
const KeyRow = z.object({
  kid: z.string(),
  jwk: Jwk,
  signs_from: z.number(),
  /** When its successor begins to sign; null if it has none. */
  retired_at: z.number().nullable(),
})
export type KeyRow = z.infer<typeof KeyRow>

/** The keys of the local issuer. `issuer` is the thumbprint of its first key and never changes. */
const KeyFile = z.object({ issuer: z.string(), keys: z.array(KeyRow).min(1) })
export type KeyFile = z.infer<typeof KeyFile>

/** Creates the file with its first key (mode 600, folder 700) if it does not exist. There is never a default key. */
export async function createKeyFile(path: string): Promise<void> {
  if (!existsSync(path)) await writePrivateFileOnce(path, JSON.stringify(await generateJwk()))
}

/** Reads the file: a ring, or a single JWK before the first rotation. Throws if it is neither. */
export function readKeyFile(path: string): KeyFile {
  return parse(readFileSync(path, 'utf8'), path)
}

function parse(text: string, path: string): KeyFile {
  const value = parseJson(text)
  const single = Jwk.safeParse(value)
  if (single.success) {
    const kid = thumbprint(single.data)
    return { issuer: kid, keys: [{ kid, jwk: single.data, signs_from: 0, retired_at: null }] }
  }
  const ring = KeyFile.safeParse(value)
  if (ring.success) return ring.data
  throw invalidKeys(path)
}

/** The text of the file is a secret, so it is no part of the error. */
function invalidKeys(path: string): Failure {
  return new Failure('internal', `${path} does not hold signing keys: it is empty, cut off or was changed.`, {
    hint: 'Restore keys/ from a backup. A new key makes all tokens invalid and gives the registry a new issuer.',
  })
}

/** RFC 7638, of an Ed25519 key. */
export function thumbprint({ crv, kty, x }: KeyRow['jwk']): string {
  return hash('sha256', JSON.stringify({ crv, kty, x }), 'base64url')
}

/**
 * Changes the file atomically, one process at a time; within a process the change is synchronous. The lock is
 * SQLite's, so the system releases it when its holder dies; waiting takes at most five seconds.
 */
export function changeKeyFile(path: string, change: (file: KeyFile) => KeyFile): KeyFile {
  const lockPath = `${path}.lock`
  ensurePrivateFile(lockPath)
  const lock = new DatabaseSync(lockPath, { timeout: 5000 })
  try {
    lock.exec('begin exclusive')
    const changed = change(readKeyFile(path))
    replace(path, JSON.stringify(changed, null, 2))
    return changed
  } finally {
    lock.close()
  }
}

function replace(path: string, text: string): void {
  const draft = `${path}.${randomUUID()}`
  const file = openSync(draft, 'wx', privateFile)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(draft, path)
}
