import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { PassThrough, type Readable, type Writable } from 'node:stream'
import { isRecord } from '../../schemas/json.ts'
import { linkSignals } from '../common/abort.ts'
import { parseJson } from '../common/json.ts'
import { repeat } from '../common/repeat.ts'
import { nameOf } from '../store/open-store.ts'
import { version } from './assets.ts'
import { type StoreSettings, storeLocation } from './config.ts'
import { takeLock } from './lock.ts'

/** How a program of this user, an MCP host, wants to be served. */
export interface HostSession {
  /** True if the model may change what the user may change. */
  readonly manage: boolean
  /** Whose calls these are; those of the person at this machine when absent. */
  readonly token?: string | undefined
  /** What its user types for `dragoman` in any folder. */
  readonly typed?: string | undefined
}

/** Serves lines of MCP; resolves when the input has ended and its requests are answered. */
type ServeHost = (session: HostSession, lines: { input: Readable; output: Writable }) => Promise<void>

/** Bytes that the address of a socket may have, on Linux; macOS has four less. */
const maxPath = 103
const maxGreeting = 16_384
/** Time of a host and a gateway for their first words. */
const timeout_ms = 1_000
/** A gateway that listens holds the lock for milliseconds. */
const lockWait_ms = 2_000

/** The socket in the data folder, which only its owner reaches; undefined where there can be none. */
function pathOf({ data }: StoreSettings): string | undefined {
  const path = join(data, 'host.sock')
  return process.platform === 'win32' || Buffer.byteLength(path) > maxPath ? undefined : path
}

/** Milliseconds between two looks whether another gateway still serves the hosts. */
const beat_ms = 5_000

/**
 * Hosts over the data folder of a gateway that runs share its process. Where another gateway serves them, this one does
 * when that one has ended. Disposing answers what they have asked.
 */
export async function listenForHosts(
  config: StoreSettings,
  serveHost: ServeHost,
  onError: (fault: unknown) => void,
  pause_ms = beat_ms,
): Promise<AsyncDisposable> {
  const hosts = new Map<PassThrough, Promise<void>>()
  const path = pathOf(config)
  const stop = new AbortController()
  let server: Server | undefined

  async function take(socket: Socket): Promise<void> {
    socket.on('error', () => socket.destroy())
    const greeting = await firstLine(socket, AbortSignal.timeout(timeout_ms)).catch(() => undefined)
    const isSame = greeting?.version === version && greeting.store === nameOf(storeLocation(config))
    socket.write(`${JSON.stringify({ is_served: isSame })}\n`)
    if (!isSame) return socket.destroySoon()
    const { manage, token, typed } = greeting
    const session = {
      manage: manage === true,
      ...(typeof token === 'string' && { token }),
      ...(typeof typed === 'string' && { typed }),
    }
    const input = new PassThrough()
    socket.pipe(input)
    const served = serveHost(session, { input, output: socket }).finally(() => {
      hosts.delete(input)
      socket.end()
    })
    hosts.set(input, served)
    await served
  }

  async function tryToListen(): Promise<void> {
    if (server || path === undefined) return
    server = await listen(path)
    server?.on('connection', (socket: Socket) => void take(socket).catch(onError))
  }

  await tryToListen().catch(onError)
  const ended = repeat(pause_ms, stop.signal, () => tryToListen().catch(onError))
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      await ended
      server?.close()
      for (const input of hosts.keys()) input.end()
      await Promise.allSettled(hosts.values())
    },
  }
}

/** Undefined where another gateway serves the hosts of this folder already. */
async function listen(path: string): Promise<Server | undefined> {
  // Of two gateways that find no other one, each would remove the socket of the other one.
  using _lock = await takeLock(path, lockWait_ms)
  const other = connect(path)
  const isTaken = await once(other, 'connect').then(
    () => true,
    () => false,
  )
  other.destroy()
  if (isTaken) return undefined
  await rm(path, { force: true })
  const server = createServer()
  const before = process.umask(0o177)
  try {
    server.listen(path)
  } finally {
    process.umask(before)
  }
  await once(server, 'listening')
  return server
}

/** A connection of MCP lines to the gateway that runs over the data folder, if it has the version and the store of this one. */
export async function connectToHostSocket(
  config: StoreSettings,
  session: HostSession,
): Promise<Socket | undefined> {
  const path = pathOf(config)
  if (path === undefined) return undefined
  const socket = connect(path)
  const late = AbortSignal.timeout(timeout_ms)
  try {
    await once(socket, 'connect', { signal: late })
    const store = nameOf(storeLocation(config))
    socket.write(`${JSON.stringify({ version, store, ...session })}\n`)
    const answer = await firstLine(socket, late)
    if (answer?.is_served === true) return socket
  } catch {
    // No gateway runs, or it does not answer.
  }
  socket.destroy()
  return undefined
}

/**
 * The JSON object of the first line; what follows stays to be read. Undefined for anything else. Rejects when the signal
 * aborts, and for a connection that closes before.
 */
async function firstLine(
  socket: Socket,
  late: AbortSignal,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  using first = linkSignals(late)
  socket.once('close', () => first.abort())
  let text = Buffer.alloc(0)
  for (;;) {
    const [chunk] = (await once(socket, 'data', { signal: first.signal })) as [Buffer]
    socket.pause()
    text = Buffer.concat([text, chunk])
    const end = text.indexOf(10)
    if (end < 0 && text.length <= maxGreeting) {
      socket.resume()
      continue
    }
    if (end < 0) return undefined
    if (end + 1 < text.length) socket.unshift(text.subarray(end + 1))
    const value = parseJson(text.subarray(0, end).toString())
    return isRecord(value) ? value : undefined
  }
}
