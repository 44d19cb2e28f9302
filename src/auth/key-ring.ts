import type { JWK } from 'jose'
import { dayMilliseconds } from '../common/days.ts'
import { generateJwk, importKey, type SigningKey } from './key.ts'
import {
  changeKeyFile,
  createKeyFile,
  type KeyFile,
  type KeyRow,
  readKeyFile,
  thumbprint,
} from './key-file.ts'

/** How long others may cache the published keys: a new key signs only after that. */
const publishedMilliseconds = 300_000
/** Maximum lifetime of a token, and so of the keys that verify it. */
export const maxTokenMilliseconds = 365 * dayMilliseconds
const rereadMilliseconds = 2000

type KeyState = 'next' | 'signing' | 'retired'

/** A key as `keys list` shows it. Times are RFC 3339; `signs_from` null for the first key of all. */
export interface KeySummary {
  readonly kid: string
  readonly state: KeyState
  readonly signs_from: string | null
  readonly retired_at: string | null
}

/** The keys of the local issuer, in a file that other processes may change. */
export interface KeyRing {
  /** `urn:dragoman:THUMBPRINT` of the first key: it never changes. */
  readonly name: string
  /** The key to sign with now. */
  signing(): Promise<SigningKey>
  /** A key that may verify; an unknown one is looked up in the file again, at most every two seconds. */
  verifying(kid: string): SigningKey | undefined | Promise<SigningKey | undefined>
  /** Public JWKs of every key that may verify (RFC 7517). */
  published(): Promise<readonly JWK[]>
  list(): Promise<readonly KeySummary[]>
  /** Adds a key, which is published at once and signs after five minutes. Drops keys that no token needs. */
  rotate(): Promise<KeySummary>
  /** Removes a key; if it was the signing one, another one signs at once. False if there is no such key. */
  remove(kid: string): Promise<boolean>
}

/** Opens the ring at `path`, and creates its first key if there is none; `clock` in milliseconds since the epoch. */
export async function openKeyRing(path: string, clock: () => number): Promise<KeyRing> {
  await createKeyFile(path)
  let ring = await load(readKeyFile(path))
  let read = clock()
  let adopting = Promise.resolve()

  /** Files are applied in the order in which they were read. */
  function adopt(file: KeyFile): Promise<void> {
    read = clock()
    adopting = adopting
      .catch(() => {})
      .then(async () => {
        ring = await load(file, ring)
      })
    return adopting
  }

  async function reread(): Promise<void> {
    const age = clock() - read
    await (age >= 0 && age < rereadMilliseconds ? adopting : adopt(readKeyFile(path)))
  }

  async function change(edit: (file: KeyFile) => KeyFile): Promise<void> {
    await adopt(changeKeyFile(path, edit))
  }

  function verifyingKey(kid: string): SigningKey | undefined {
    const row = ring.file.keys.find((candidate) => candidate.kid === kid)
    return row && verifies(row, clock()) ? ring.keys.get(kid) : undefined
  }

  return {
    name: `urn:dragoman:${ring.file.issuer}`,
    async signing() {
      await reread()
      return keyOf(ring, signer(ring.file.keys, clock()))
    },
    verifying: (kid) => verifyingKey(kid) ?? reread().then(() => verifyingKey(kid)),
    async published() {
      await reread()
      const usable = ring.file.keys.filter((row) => verifies(row, clock()))
      return usable.map(({ kid, jwk: { kty, crv, x } }) => ({ kty, crv, x, kid, alg: 'EdDSA', use: 'sig' }))
    },
    async list() {
      await reread()
      const now = clock()
      return ring.file.keys.filter((row) => verifies(row, now)).map((row) => summary(row, ring.file, now))
    },
    async rotate() {
      const row = await newRow(clock() + publishedMilliseconds)
      await change((file) => withNext(file, row, clock()))
      return summary(row, ring.file, clock())
    },
    async remove(kid) {
      const spare = await newRow(clock())
      let found = false
      await change((file) => {
        found = file.keys.some((row) => row.kid === kid)
        return found ? without(file, kid, spare, clock()) : file
      })
      return found
    },
  }
}

interface Ring {
  readonly file: KeyFile
  readonly keys: ReadonlyMap<string, SigningKey>
}

async function load(file: KeyFile, before?: Ring): Promise<Ring> {
  const pairs = file.keys.map(async ({ kid, jwk }) => {
    const key = before?.keys.get(kid) ?? (await importKey(jwk as JWK))
    return [kid, key] as const
  })
  return { file, keys: new Map(await Promise.all(pairs)) }
}

function keyOf({ keys }: Ring, { kid }: KeyRow): SigningKey {
  const key = keys.get(kid)
  if (!key) throw new Error(`The key ${kid} is not in the ring.`)
  return key
}

async function newRow(signs_from: number): Promise<KeyRow> {
  const jwk = (await generateJwk()) as KeyRow['jwk']
  return { kid: thumbprint(jwk), jwk, signs_from, retired_at: null }
}

/**
 * Returns the key that began last and has no active successor, even if a wrong clock at a rotation changed the order.
 * With a clock before all keys, returns the first key.
 */
function signer(keys: readonly KeyRow[], now: number): KeyRow {
  const [first, ...rest] = keys.toSorted((a, b) => a.signs_from - b.signs_from)
  if (!first) throw new Error('The key file is empty.')
  const begun = rest.filter((row) => row.signs_from <= now)
  return begun.findLast((row) => row.retired_at === null || now < row.retired_at) ?? begun.at(-1) ?? first
}

function verifies({ retired_at }: KeyRow, now: number): boolean {
  return retired_at === null || now < retired_at + maxTokenMilliseconds
}

function withNext({ issuer, keys }: KeyFile, next: KeyRow, now: number): KeyFile {
  const usable = keys.filter((row) => verifies(row, now))
  const retired = usable.map((row) => ({ ...row, retired_at: row.retired_at ?? next.signs_from }))
  return { issuer, keys: [...retired, next] }
}

/** The spare key is added only if no other key would sign; a key whose successor is removed is no longer retired. */
function without(file: KeyFile, kid: string, spare: KeyRow, now: number): KeyFile {
  const rest = file.keys.filter((row) => row.kid !== kid)
  const wasSigning = signer(file.keys, now).kid === kid
  const keys = wasSigning ? [...rest, spare] : rest
  const newest = keys.toSorted((a, b) => a.signs_from - b.signs_from).at(-1) ?? spare
  const retired = (row: KeyRow) => (row === newest ? null : (row.retired_at ?? newest.signs_from))
  return { issuer: file.issuer, keys: keys.map((row) => ({ ...row, retired_at: retired(row) })) }
}

function summary(row: KeyRow, { keys }: KeyFile, now: number): KeySummary {
  const current = signer(keys, now)
  const state = row.kid === current.kid ? 'signing' : row.signs_from > current.signs_from ? 'next' : 'retired'
  return {
    kid: row.kid,
    state,
    signs_from: row.signs_from === 0 ? null : new Date(row.signs_from).toISOString(),
    retired_at: row.retired_at === null ? null : new Date(row.retired_at).toISOString(),
  }
}
