import { stat, statfs } from 'node:fs/promises'
import { counted } from '../../schemas/counted.ts'
import { Failure } from '../../schemas/failure.ts'
import { type Config, isWildcard, keysPath, storeLocation } from '../app/config.ts'
import { assertOwnData, describeExposed, exposedFiles } from '../app/file-modes.ts'
import { keyMismatch } from '../app/keys-differ.ts'
import { sandboxOf } from '../app/packages.ts'
import { serverOverFolder, statusAt } from '../app/running-server.ts'
import type { HealthReason } from '../app/runtime.ts'
import { secretKey, secretKeyMismatch } from '../app/secret-key.ts'
import { startFailure } from '../app/start-failure.ts'
import { readKeyFile } from '../auth/key-file.ts'
import { openKeyRing } from '../auth/key-ring.ts'
import { createVault } from '../auth/vault.ts'
import { makePrivateFolder } from '../common/private-file.ts'
import { aboutStore, nameOf, openStore } from '../store/open-store.ts'
import { createLogger, type Logger } from '../telemetry/log.ts'
import { ask, openClient } from './client.ts'

/** One requirement of a deployment, and whether it is met. */
export interface Check {
  readonly check: string
  readonly ok: boolean
  readonly detail: string
  /** What a report shows on request. */
  readonly more?: readonly string[]
}

/** Maximum database connections of one gateway, including those of shared rate limits. */
const connectionsOfOne = 18
const apartMilliseconds = 5_000
const megabyte = 1024 * 1024
/** Characters of a reason. */
const maxReason = 400
const leastFree = 200 * megabyte

/** All checks that this machine can make. */
export async function checkDeployment(config: Config): Promise<Check[]> {
  // A client of a running gateway has nothing else to check.
  if (config.DRAGOMAN_URL) {
    const server = await statusAt(config.DRAGOMAN_URL)
    return [nodeCheck(), await searchCheck(config), ...(server ? reasonChecks(server.reasons) : [])]
  }
  const data = await dataCheck(config)
  const own = [nodeCheck(), addressCheck(config), data, await filesCheck(config)]
  const server = await serverChecks(config)
  const store = await storeChecks(config, data)
  // The store is checked first: a gateway would wait for it.
  const registry = [...own, ...store].every(({ ok }) => ok) ? await searchChecks(config) : []
  const keys = [await keyCheck(config), ...(registry[0]?.ok ? await issuerCheck(config) : [])]
  const found = registry.filter(({ detail }) => keys.every((key) => !detail.endsWith(key.detail)))
  return [...own, ...server, ...store, ...found, ...keys, contactCheck(config), await sandboxCheck(config)]
}

function nodeCheck(): Check {
  const { node } = process.versions
  return { check: 'node', ok: Number(node.split('.')[0]) >= 24, detail: node }
}

function addressCheck({ HOST, DRAGOMAN_BASE_URL: base }: Config): Check {
  const check = 'address'
  if (base) return { check, ok: true, detail: base }
  if (!isWildcard(HOST)) return { check, ok: true, detail: `${HOST}, which only this machine can reach` }
  return { check, ok: false, detail: `HOST is ${HOST}: set DRAGOMAN_BASE_URL to what callers use` }
}

async function dataCheck({ data }: Config): Promise<Check> {
  const check = 'data folder'
  try {
    makePrivateFolder(data)
    const { bavail, bsize } = await statfs(data)
    const free = bavail * bsize
    const ok = free >= leastFree
    const remedy = ok ? '' : `: make room on its disk, at least ${leastFree / megabyte} MB`
    return { check, ok, detail: `${data}, ${Math.floor(free / megabyte)} MB free${remedy}` }
  } catch (fault) {
    return { check, ok: false, detail: `${data}: ${wordsOf(fault)}` }
  }
}

/**
 * No gateway has to run; whether one does is what a person at a problem asks first. Each reason why it needs its
 * operator is a failed check.
 */
async function serverChecks(config: Config): Promise<Check[]> {
  const check = 'gateway'
  const server = await serverOverFolder(config)
  if (!server) return [{ check, ok: true, detail: 'none runs over this data folder' }]
  const store = nameOf(storeLocation(config))
  if (server.store !== store) {
    const remedy = `Set the same DATABASE_URL for both, for commands in ${config.config_path}.`
    const detail = `the one at ${server.url} uses ${server.store}, and commands use ${store}. ${remedy}`
    return [{ check, ok: false, detail }]
  }
  return [{ check, ok: true, detail: `runs at ${server.url}` }, ...reasonChecks(server.reasons)]
}

function reasonChecks(reasons: readonly string[]): Check[] {
  return reasons.map((reason) => ({ check: 'gateway', ok: false, detail: `${reason}: ${remedyOf(reason)}` }))
}

/** What to do about a reason of `/readyz`, as docs/monitoring.md has it. */
export const remedies: Readonly<Record<HealthReason | 'store_unavailable', string>> = {
  storage_full: 'the disk of the database is full, so nothing can be written. Make room on it',
  read_only:
    'the database refuses writes. Let the gateway write to it: it may be a replica, or its file or disk may be read-only',
  store_replaced:
    'the files of the database were removed or replaced while the gateway ran, so it refuses writes. Start it again; if you have restored a backup, restore it once more while the gateway is stopped (docs/backup.md)',
  store_damaged:
    'the check after an unclean end found damage, which the log names. Stop the gateway and restore a backup (docs/backup.md)',
  store_behind_index:
    'the database lacks changes that were acknowledged, such as after a failover or a restored backup; the log has the revisions. Restore a newer backup if there is one (docs/backup.md), else start the gateway again: the reason goes then',
  clock_differs:
    'the clocks of this machine and of PostgreSQL are more than 15 seconds apart. Set both by NTP',
  keys_differ:
    'the keys of this gateway are not those of the registry, or lack the key that another gateway has rotated in, so it refuses the tokens of others. Copy keys/ from a gateway that has them, or from a backup; if the log names another issuer, start it again. If nobody has them any more, stop every gateway of the registry and run dragoman keys replace',
  secret_key_differs:
    'the gateway has another secret key (keys/secret or DRAGOMAN_SECRET_KEY) than the one that encrypted the stored credentials, the sign-ins and the secrets of webhooks, so it cannot read them. Put that key back from a backup (docs/backup.md), and start the gateway again. If it is lost, start the gateway again all the same: the reason goes then, callers must store their credentials and webhooks again, and people must sign in again',
  search_unavailable:
    'the search engine of DRAGOMAN_SEARCH does not answer or refuses, so lists and searches fail. Start it, and read the reason in the log line "the search engine cannot be reached" (docs/elasticsearch.md)',
  search_read_only:
    'an index of the search engine refuses changes, so searches do not find what is new; the log line "the search engine takes no changes" has the reason. Make room on its disks and lift the block: PUT /INDEX/_settings {"index.blocks.read_only_allow_delete": null, "index.blocks.write": null}. The changes are then applied by themselves',
  store_unavailable:
    'the database does not answer. Start it; the check `store` of doctor says why it cannot be reached',
}

/** A newer gateway may have more reasons. */
function remedyOf(reason: string): string {
  const remedy = Object.entries(remedies).find(([name]) => name === reason)?.[1]
  return remedy ?? 'docs/monitoring.md of its version says what to do'
}

/** Restricts modes as a start does. */
async function filesCheck(config: Config): Promise<Check> {
  const check = 'files'
  if (process.platform === 'win32') return { check, ok: true, detail: 'not checked on Windows' }
  try {
    const exposed = await exposedFiles(config)
    if (exposed.length === 0) await assertOwnData(config)
    const detail = exposed.map(describeExposed).join(' ') || 'only this user may read them'
    return { check, ok: exposed.length === 0, detail }
  } catch (fault) {
    return { check, ok: false, detail: wordsOf(fault) }
  }
}

async function storeChecks(config: Config, data: Check): Promise<Check[]> {
  const location = storeLocation(config)
  if (location.url === undefined && !data.ok && !(await exists(config.data))) {
    return [{ check: 'store', ok: false, detail: `${nameOf(location)}: the data folder cannot be used` }]
  }
  const startedAt = Date.now()
  try {
    const { version, now, connections, damage = [], is_read_only = false } = await aboutStore(location)
    const [worst] = damage
    if (worst !== undefined) return [damaged(nameOf(location), worst)]
    const store = { check: 'store', ok: !is_read_only, detail: `${nameOf(location)}, version ${version}` }
    if (is_read_only) store.detail += ', which refuses writes; it may be a replica'
    return [
      store,
      ...(now === undefined ? [] : [clockCheck(now - (startedAt + Date.now()) / 2)]),
      ...(connections ? [connectionCheck(connections)] : []),
    ]
  } catch (fault) {
    const failure = startFailure(fault, config)
    // Errors of a server, and those of a start, name it.
    const where = failure instanceof Failure ? '' : `${nameOf(location)}: `
    return [{ check: 'store', ok: false, detail: `${where}${wordsOf(failure)}` }]
  }
}

function damaged(name: string, what: string): Check {
  const remedy = 'Stop the gateway and restore a backup (docs/backup.md)'
  // SQLite reports many lines, after one with the name of the database.
  const [first = what, ...others] = what.split('\n').filter((line) => !line.startsWith('***'))
  const found = others.length === 0 ? first : `${first}, and ${others.length} more`
  return { check: 'store', ok: false, detail: `${name} is damaged (${found}). ${remedy}` }
}

async function exists(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found?.isDirectory() === true
}

function clockCheck(ahead: number): Check {
  // Less than a second may be network latency.
  const seconds = Math.round(ahead / 1000)
  const apart =
    seconds === 0 ? 'together' : `${Math.abs(seconds)} s ${seconds > 0 ? 'behind' : 'ahead of'} the database`
  return { check: 'clock', ok: Math.abs(ahead) < apartMilliseconds, detail: apart }
}

function connectionCheck({ max, used }: { max: number; used: number }): Check {
  const left = max - used
  const detail = `${left} of ${max} connections are free; a gateway takes up to ${connectionsOfOne}`
  return { check: 'connections', ok: left >= connectionsOfOne, detail }
}

/** The reason in one line, with what to do; that of an unexpected error is in its cause. */
function wordsOf(fault: unknown): string {
  const hint = fault instanceof Failure ? fault.details.hint : undefined
  const isUnexpected = fault instanceof Failure && fault.code === 'internal' && hint === undefined
  if (isUnexpected && fault.cause) return wordsOf(fault.cause)
  const text = [fault instanceof Error ? fault.message : String(fault), hint].filter(Boolean).join(' ')
  return text.replace(/\s+/g, ' ').trim().slice(0, maxReason)
}

/** A search by a gateway of this process, and what that gateway would log. */
async function searchChecks(config: Config): Promise<Check[]> {
  const reasons: string[] = []
  const log = createLogger('warn', { write: (line) => void reasons.push(reasonIn(line)) })
  const registry = await searchCheck(config, log)
  const others = [...new Set(reasons)].filter((reason) => !registry.detail.includes(reason))
  const [first] = others
  if (first === undefined) return [registry]
  const detail = others.length === 1 ? first : `${first} (and ${others.length - 1} more: see the log)`
  return [registry, { check: 'start', ok: false, detail }]
}

function reasonIn(line: string): string {
  const { msg, err } = JSON.parse(line)
  return wordsOf(err?.message ?? msg)
}

async function searchCheck(config: Config, log?: Logger): Promise<Check> {
  const where = config.DRAGOMAN_URL ?? (config.DATABASE_URL ? nameOf(storeLocation(config)) : config.data)
  try {
    await using client = await openClient(config, undefined, log)
    const { total } = await ask<{ total: number }>(client, 'search_agents', { limit: 1 })
    return { check: 'registry', ok: true, detail: `${counted(total, 'agent')} in ${where}` }
  } catch (fault) {
    return { check: 'registry', ok: false, detail: `${where}: ${wordsOf(fault)}` }
  }
}

async function keyCheck(config: Config): Promise<Check> {
  const path = keysPath(config)
  const found = await stat(path).catch(() => undefined)
  if (!found) return { check: 'signing key', ok: false, detail: `${path} does not exist yet` }
  try {
    readKeyFile(path)
  } catch (fault) {
    return { check: 'signing key', ok: false, detail: wordsOf(startFailure(fault, config)) }
  }
  const mode = (found.mode & 0o777).toString(8)
  const ok = process.platform === 'win32' || (found.mode & 0o077) === 0
  return { check: 'signing key', ok, detail: `${path}, mode ${mode}` }
}

/** Whether gateways over the same registry accept each other's tokens, and read what they have encrypted. */
async function issuerCheck(config: Config): Promise<Check[]> {
  const check = 'issuer'
  try {
    await using store = await openStore(storeLocation(config), { clock: Date.now, onError() {} })
    const ring = await openKeyRing(keysPath(config), Date.now)
    const mismatch = await keyMismatch(store, ring, Date.now)
    const vault = createVault(await secretKey(config, store.settings))
    const isOther = await secretKeyMismatch(config, store.settings, vault)
    return [
      { check, ok: mismatch === undefined, detail: mismatch ?? ring.name },
      ...(isOther === undefined ? [] : [{ check: 'secret key', ok: false, detail: isOther }]),
    ]
  } catch (fault) {
    return [{ check, ok: false, detail: wordsOf(fault) }]
  }
}

/** A missing contact passes the check: only the wiki agent needs one. */
function contactCheck({ DRAGOMAN_CONTACT: contact }: Config): Check {
  return { check: 'contact', ok: true, detail: contact ?? 'not set: the wiki agent answers not_configured' }
}

/** A missing sandbox, and a missing package manager, pass the check: such packages are not run then. */
async function sandboxCheck(config: Config): Promise<Check> {
  const { kind, version, problem, limited, not_limited, missing } = await sandboxOf(config)
  const check = 'packages'
  if (kind === null) return { check, ok: true, detail: `cannot run here: ${problem}` }
  const name =
    kind === 'none' ? 'run WITHOUT a sandbox' : `run in ${[kind, version].filter(Boolean).join(' ')}`
  const more = [...limited, ...not_limited.map((what) => `Not limited: ${what}`)]
  return { check, ok: kind !== 'none', detail: [name, ...missing].join('. '), more }
}
