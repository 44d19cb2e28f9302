import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isRecord } from '../../schemas/json.ts'
import { parseJson } from '../common/json.ts'
import { privateFile } from '../common/private-file.ts'
import { repeat } from '../common/repeat.ts'
import { isSameSecret } from '../common/same-secret.ts'
import { nameOf } from '../store/open-store.ts'
import { type StoreSettings, storeLocation } from './config.ts'

/**
 * The secret of one run of a server. The server proves with it that it is the one that wrote the file in the data
 * folder: another program may listen on the address of a server that has ended.
 */
export type InstanceSecret = string

export function createInstanceSecret(): InstanceSecret {
  return randomBytes(32).toString('hex')
}

/** What a server answers to a challenge. */
export function proofOf(secret: InstanceSecret, challenge: string): string {
  return createHmac('sha256', secret).update(challenge).digest('hex')
}

const challengeHeader = 'Dragoman-Challenge'
/** Node gives the names of headers in lower case. */
export const receivedChallenge = challengeHeader.toLowerCase()
export const proofHeader = 'Dragoman-Proof'

function pathOf({ data }: StoreSettings): string {
  return join(data, 'server.json')
}

/** Milliseconds between two looks whether the data folder names a server that runs. */
const beatMilliseconds = 5000

/**
 * Writes the address of a server into its data folder, for the command line, and again whenever the file names no server
 * that runs: of several servers over the folder, any may end first. Disposing removes it.
 */
export async function announceServer(
  config: StoreSettings,
  url: string,
  secret: InstanceSecret,
  onError: (fault: unknown) => void,
): Promise<AsyncDisposable> {
  const path = pathOf(config)
  const text = JSON.stringify({ url, secret, store: nameOf(storeLocation(config)) })
  const stop = new AbortController()
  const read = () => readFile(path, 'utf8').catch(() => '')

  async function announceAgain(): Promise<void> {
    const found = await read()
    if (found === text) return
    const other = announcedIn(found)
    if ((other && (await statusOf(other, stop.signal))) || stop.signal.aborted) return
    await replaceFile(path, text)
  }

  await replaceFile(path, text)
  const ended = repeat(beatMilliseconds, stop.signal, () => announceAgain().catch(onError))
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      await ended
      // Another server over the same folder may have replaced the file.
      if ((await read()) === text) await rm(path, { force: true })
    },
  }
}

async function replaceFile(path: string, text: string): Promise<void> {
  const part = `${path}.${randomUUID()}`
  await writeFile(part, text, { mode: privateFile })
  await rename(part, path)
}

/** Milliseconds that a server on this machine may take to answer. */
const timeout = 1000
/** The same while its database is away, which the server waits for. */
const timeoutWithoutStore = 10_000
/** Milliseconds that its index may take to apply what other processes have written. */
const maxLag = 2500
const lagPause = 100

/**
 * The address of a server that runs over the data folder and the store of this configuration, and whose index has
 * applied every change of the store; undefined if there is none. The server has proved to be the one that the folder
 * names. It is asked without credentials: whoever listens there gains nothing.
 */
export async function findServer(config: StoreSettings): Promise<string | undefined> {
  const found = await readOwn(config)
  if (!found) return undefined
  const end = performance.now() + maxLag
  try {
    do {
      const status = await askStatus(found.url, found.secret)
      if (status?.index !== 'behind') return status?.index === 'current' ? found.url : undefined
      await new Promise((resolve) => setTimeout(resolve, lagPause))
    } while (performance.now() < end)
    return undefined
  } catch {
    return undefined
  }
}

/** What a server says of itself. */
interface ServerStatus {
  /** Whether its index has every change of the store; unknown while the server is not ready. */
  readonly index: 'current' | 'behind' | 'unknown'
  /** Why it needs its operator. */
  readonly reasons: readonly string[]
}

/** A server that runs over a data folder. */
interface FoundServer extends ServerStatus {
  readonly url: string
  /** The name of its store. */
  readonly store: string
}

/**
 * The server that runs over the data folder and the store of this configuration, also while its store is away or its
 * index is behind; undefined if there is none.
 */
export async function runningServer(config: StoreSettings): Promise<FoundServer | undefined> {
  return await described(await readOwn(config))
}

/** The same for a server over the data folder, whatever its store. */
export async function serverOverFolder(config: StoreSettings): Promise<FoundServer | undefined> {
  return await described(await readAnnounced(config))
}

async function described(announced: Announced | undefined): Promise<FoundServer | undefined> {
  const status = announced && (await statusOf(announced))
  return status && { ...status, url: announced.url, store: announced.store }
}

interface Announced {
  readonly url: string
  readonly secret: InstanceSecret
  readonly store: string
}

async function statusOf({ url, secret }: Announced, signal?: AbortSignal): Promise<ServerStatus | undefined> {
  return await askStatus(url, secret, timeoutWithoutStore, signal).catch(() => undefined)
}

/** What a server over the store of this configuration has announced. */
async function readOwn(config: StoreSettings): Promise<Announced | undefined> {
  const announced = await readAnnounced(config)
  return announced?.store === nameOf(storeLocation(config)) ? announced : undefined
}

async function readAnnounced(config: StoreSettings): Promise<Announced | undefined> {
  return announcedIn(await readFile(pathOf(config), 'utf8').catch(() => ''))
}

function announcedIn(text: string): Announced | undefined {
  const announced = parseJson(text)
  if (!isRecord(announced)) return undefined
  const { url, secret, store } = announced
  const texts = typeof url === 'string' && typeof secret === 'string' && typeof store === 'string'
  return texts ? { url, secret, store } : undefined
}

/** Undefined if the answer is that of another program. */
async function askStatus(
  url: string,
  secret: InstanceSecret,
  timeout_ms = timeout,
  stop?: AbortSignal,
): Promise<ServerStatus | undefined> {
  const challenge = randomBytes(16).toString('hex')
  const answer = await fetch(`${url}/readyz`, {
    headers: { [challengeHeader]: challenge },
    redirect: 'error',
    signal: AbortSignal.any([AbortSignal.timeout(timeout_ms), ...(stop ? [stop] : [])]),
  })
  const status = await readStatus(answer)
  return isSameSecret(answer.headers.get(proofHeader) ?? '', proofOf(secret, challenge)) ? status : undefined
}

async function readStatus(answer: Response): Promise<ServerStatus> {
  const body: unknown = await answer.json()
  const { reasons, applied_revision, revision } = isRecord(body) ? body : {}
  const isCurrent = Number(applied_revision) >= Number(revision)
  return {
    index: answer.ok ? (isCurrent ? 'current' : 'behind') : 'unknown',
    reasons: Array.isArray(reasons) ? reasons.map(String) : [],
  }
}

/** What the gateway at an address says of itself; undefined if none answers there. */
export async function statusAt(url: string): Promise<ServerStatus | undefined> {
  const signal = AbortSignal.timeout(timeoutWithoutStore)
  return await fetch(`${url.replace(/\/+$/, '')}/readyz`, { redirect: 'error', signal })
    .then(readStatus)
    .catch(() => undefined)
}
