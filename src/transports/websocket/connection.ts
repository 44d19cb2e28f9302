import type { RawData, WebSocket } from 'ws'
import type { Principal } from '../../../schemas/scope.ts'

/** Messages being answered at once on one socket. */
export const mostInFlight = 16
const bufferedLimit = 4 * 1024 * 1024
const pingMilliseconds = 30_000
const drainMilliseconds = 5000

/** One open socket: text in, text out, under the limits that every WebSocket door has. */
export interface Connection {
  readonly client: string
  /** Aborts when the socket has closed. */
  readonly signal: AbortSignal
  /** Who calls, asked anew for each message; closes the socket with 1008 where the token no longer holds. */
  identify(): Promise<Principal | null | undefined>
  /** Begins to read; `answer` is given one text at a time, at most 16 at once. `urgent` ones do not wait. */
  read(answer: (text: string) => Promise<void>, urgent?: (text: string) => boolean): void
  send(text: string): Promise<void>
  close(code: number, reason: string): void
  onClose(listener: () => void): void
  /** Answers what is in flight, then closes with 1001. */
  drain(): Promise<void>
}

interface ConnectOptions {
  readonly client: string
  readonly principal: Principal | null
  readonly identify: () => Principal | null | Promise<Principal>
  readonly closed: () => void
}

/** Takes an accepted socket, paused until `read`. */
export function connect(socket: WebSocket, options: ConnectOptions): Connection {
  const gone = new AbortController()
  const waiting: string[] = []
  const listeners: (() => void)[] = [options.closed]
  let inFlight = 0
  let idle: (() => void) | undefined
  socket.pause()

  let alive = true
  socket.on('pong', () => {
    alive = true
  })
  const heartbeat = setInterval(() => {
    if (!alive) return socket.terminate()
    alive = false
    return socket.ping()
  }, pingMilliseconds)
  heartbeat.unref()

  socket.on('error', () => {})
  socket.on('close', () => {
    clearInterval(heartbeat)
    gone.abort()
    idle?.()
    for (const listener of listeners) listener()
  })

  function close(code: number, reason: string): void {
    socket.close(code, reason.slice(0, 100))
  }

  return {
    client: options.client,
    signal: gone.signal,
    close,
    onClose: (listener) => void listeners.push(listener),
    async identify() {
      try {
        return await options.identify()
      } catch {
        close(1008, 'The token no longer holds.')
        return undefined
      }
    },
    read(answer, urgent = () => false) {
      async function run(text: string): Promise<void> {
        inFlight += 1
        try {
          await answer(text)
        } finally {
          inFlight -= 1
          next()
        }
      }
      function next(): void {
        const text = inFlight < mostInFlight ? waiting.shift() : undefined
        if (text !== undefined) void run(text)
        if (waiting.length === 0) socket.resume()
        if (inFlight === 0) idle?.()
      }
      socket.on('message', (data: RawData, binary: boolean) => {
        if (binary) return close(1003, 'Send text.')
        const text = data.toString()
        if (inFlight < mostInFlight || urgent(text)) return void run(text)
        waiting.push(text)
        return socket.pause()
      })
      socket.resume()
    },
    send(text) {
      if (socket.readyState !== socket.OPEN) return Promise.resolve()
      if (socket.bufferedAmount > bufferedLimit) {
        close(1013, 'Read faster.')
        return Promise.resolve()
      }
      return new Promise((resolve) => socket.send(text, () => resolve()))
    },
    async drain() {
      const quiet = new Promise<void>((resolve) => {
        idle = resolve
        if (inFlight === 0) resolve()
      })
      const timer = setTimeout(() => idle?.(), drainMilliseconds)
      socket.pause()
      await quiet
      clearTimeout(timer)
      const closed = new Promise<void>((resolve) => {
        if (socket.readyState === socket.CLOSED) resolve()
        else socket.once('close', () => resolve())
      })
      socket.resume()
      close(1001, 'The gateway is shutting down.')
      const hard = setTimeout(() => socket.terminate(), 1000)
      await closed
      clearTimeout(hard)
    },
  }
}
