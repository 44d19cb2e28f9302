import type { Socket } from 'node:net'
import type { RawData, WebSocket } from 'ws'
import { Failure } from '../../../schemas/failure.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { startHeartbeat } from '../../common/heartbeat.ts'
import type { Client } from '../../router/router.ts'
import { maximumBytes } from '../http/body.ts'

/** Messages being answered at once on one socket. */
export const mostInFlight = 16
/** Messages read ahead of those, so that a cancellation among them is heard; together at most as long as the longest. */
export const mostWaiting = 64
const drainMilliseconds = 5000
/** How much longer a peer that read too slowly may take to read that it is closed. */
const stalledMilliseconds = 5000

/** What one message asks for. */
export interface Task {
  /** Does not wait behind others: a cancellation passes the requests that it cancels. */
  readonly urgent?: boolean
  run(): Promise<void>
}

/** One open socket: text in, text out, under the limits that every WebSocket door has. */
export interface Connection {
  readonly client: Client
  /** Aborts when the socket has closed. */
  readonly signal: AbortSignal
  /** Who calls, asked anew for each message; closes the socket with 1008 where the token no longer holds, and with
   * 1013 where that cannot be told now. */
  identify(): Promise<Principal | null | undefined>
  /** Begins to read; `prepare` is given one text at a time, and its tasks run at most 16 at once. What
   * waits when the socket closes is never run. */
  read(prepare: (text: string) => Task): void
  /** Resolves when the text has left for the peer. A peer that takes nothing for a while is closed with 1013. */
  send(text: string): Promise<void>
  close(code: number, reason: string): void
  onClose(listener: () => void): void
  /** Answers what is in flight, then closes with 1001. */
  drain(): Promise<void>
}

export interface Patience {
  /** Between two pings. */
  readonly beat_ms?: number
  /** How long a peer may leave what is sent to it unread. */
  readonly stall_ms?: number
}

interface ConnectOptions extends Patience {
  readonly client: Client
  /** The socket under the WebSocket. */
  readonly wire: Socket
  readonly identify: () => Principal | null | Promise<Principal>
  readonly closed: () => void
  /** Told of what a task threw; the socket closes with 1011. */
  readonly onError: (fault: unknown) => void
}

/** Takes an accepted socket, paused until `read`. */
export function connect(socket: WebSocket, options: ConnectOptions): Connection {
  const { client, wire, closed, onError, beat_ms = 30_000, stall_ms = 10_000 } = options
  const gone = new AbortController()
  const waiting: { readonly task: Task; readonly length: number }[] = []
  const listeners: (() => void)[] = [closed]
  let inFlight = 0
  let waitingLength = 0
  let draining = false
  let idle: (() => void) | undefined
  socket.pause()
  startHeartbeat(socket, wire, beat_ms)

  wire.on('timeout', () => {
    close(1013, 'Read faster.')
    setTimeout(() => socket.terminate(), stalledMilliseconds).unref()
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    forget()
    gone.abort()
    idle?.()
    for (const listener of listeners) listener()
  })

  function close(code: number, reason: string): void {
    forget()
    socket.close(code, reason.slice(0, 100))
  }

  async function run(task: Task): Promise<void> {
    inFlight += 1
    try {
      await task.run()
    } catch (fault) {
      fail(fault)
    } finally {
      inFlight -= 1
      next()
    }
  }

  function next(): void {
    const one = inFlight < mostInFlight ? waiting.shift() : undefined
    if (one) {
      waitingLength -= one.length
      void run(one.task)
    }
    if (!isFull() && !draining) socket.resume()
    if (inFlight === 0) idle?.()
  }

  function isFull(): boolean {
    return waiting.length >= mostWaiting || waitingLength >= maximumBytes
  }

  function forget(): void {
    waiting.length = 0
    waitingLength = 0
  }

  function fail(fault: unknown): void {
    onError(fault)
    close(1011, 'Something went wrong here; it has been logged.')
  }

  return {
    client,
    signal: gone.signal,
    close,
    onClose: (listener) => void listeners.push(listener),
    async identify() {
      try {
        return await options.identify()
      } catch (thrown) {
        const passing = Failure.from(thrown).code !== 'unauthenticated'
        if (passing) close(1013, 'Who calls cannot be checked now.')
        else close(1008, 'The token no longer holds.')
        return undefined
      }
    },
    read(prepare) {
      function take(task: Task, length: number): void {
        if (inFlight < mostInFlight || task.urgent) return void run(task)
        waiting.push({ task, length })
        waitingLength += length
        if (isFull()) socket.pause()
      }
      socket.on('message', (data: RawData, binary: boolean) => {
        if (socket.readyState !== socket.OPEN) return
        if (binary) return close(1003, 'Send text.')
        try {
          const text = data.toString()
          take(prepare(text), text.length)
        } catch (fault) {
          fail(fault)
        }
      })
      socket.resume()
    },
    send(text) {
      if (socket.readyState !== socket.OPEN) return Promise.resolve()
      return new Promise((resolve) => {
        socket.send(text, () => {
          if (wire.timeout && socket.bufferedAmount === 0) wire.setTimeout(0)
          resolve()
        })
        // Node counts each byte that the peer takes as activity, within one long text too.
        if (!wire.timeout && socket.bufferedAmount > 0) wire.setTimeout(stall_ms)
      })
    },
    async drain() {
      draining = true
      const quiet = new Promise<void>((resolve) => {
        idle = resolve
        if (inFlight === 0) resolve()
      })
      const timer = setTimeout(() => idle?.(), drainMilliseconds)
      socket.pause()
      await quiet
      clearTimeout(timer)
      const ended = new Promise<void>((resolve) => {
        if (socket.readyState === socket.CLOSED) resolve()
        else socket.once('close', () => resolve())
      })
      socket.resume()
      close(1001, 'The gateway is shutting down.')
      const hard = setTimeout(() => socket.terminate(), 1000)
      await ended
      clearTimeout(hard)
    },
  }
}
