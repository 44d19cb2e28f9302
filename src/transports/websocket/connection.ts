import type { Socket } from 'node:net'
import type { RawData, WebSocket } from 'ws'
import { Failure } from '../../../schemas/failure.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { startHeartbeat } from '../../common/heartbeat.ts'
import type { Client } from '../../router/call.ts'
import { FlowControl, type Task } from '../shared/flow-control.ts'

/** Time for a peer that reads too slowly to read the close frame. */
const stalledMilliseconds = 5000

export interface SocketTimeouts {
  /** Between two pings. */
  readonly beat_ms?: number
  /** Maximum time for which sent data may stay unread by the peer. */
  readonly stall_ms?: number
}

interface ConnectionOptions extends SocketTimeouts {
  readonly client: Client
  /** The TCP socket under the WebSocket. */
  readonly wire: Socket
  readonly identify: () => Principal | null | Promise<Principal>
  readonly onClose: () => void
  /** Receives an error that a task throws; the socket then closes with 1011. */
  readonly onError: (fault: unknown) => void
}

/** One open socket that receives and sends text, under the limits of every WebSocket endpoint. */
export class Connection {
  readonly client: Client
  readonly #socket: WebSocket
  readonly #wire: Socket
  readonly #identify: ConnectionOptions['identify']
  readonly #onError: ConnectionOptions['onError']
  readonly #stall_ms: number
  readonly #closed = new AbortController()
  readonly #flow: FlowControl
  readonly #closeListeners: (() => void)[]
  #isDraining = false

  /** Takes an accepted socket and pauses it until `read`. */
  constructor(socket: WebSocket, options: ConnectionOptions) {
    const { client, wire, identify, onClose, onError, beat_ms = 30_000, stall_ms = 10_000 } = options
    this.client = client
    this.#socket = socket
    this.#wire = wire
    this.#identify = identify
    this.#onError = onError
    this.#stall_ms = stall_ms
    this.#flow = new FlowControl((fault) => this.#fail(fault))
    this.#closeListeners = [onClose]
    socket.pause()
    startHeartbeat(socket, wire, beat_ms)
    wire.on('timeout', () => this.#closeStalled())
    socket.on('error', () => {})
    socket.on('close', () => this.#onSocketClose())
  }

  /** Aborts when the socket has closed. */
  get signal(): AbortSignal {
    return this.#closed.signal
  }

  /**
   * The caller, checked again for each message. Closes the socket with 1008 if the token is no longer valid, and with
   * 1013 if it cannot be checked now; returns undefined in both cases.
   */
  async identify(): Promise<Principal | null | undefined> {
    try {
      return await this.#identify()
    } catch (thrown) {
      const isTemporary = Failure.from(thrown).code !== 'unauthenticated'
      if (isTemporary) this.close(1013, 'The caller cannot be checked now.')
      else this.close(1008, 'The token is no longer valid.')
      return undefined
    }
  }

  /** Begins to read. `prepare` receives one text at a time; its tasks run under the limits of FlowControl. */
  read(prepare: (text: string) => Task): void {
    const socket = this.#socket
    socket.on('message', (data: RawData, binary: boolean) => {
      if (socket.readyState !== socket.OPEN) return
      if (binary) return this.close(1003, 'Send text.')
      try {
        const text = data.toString()
        if (!this.#flow.add(prepare(text), text.length)) this.#pause()
      } catch (fault) {
        this.#fail(fault)
      }
    })
    socket.resume()
  }

  /** Resolves when the text has left for the peer. A socket whose peer reads nothing for a while closes with 1013. */
  send(text: string): Promise<void> {
    const [socket, wire] = [this.#socket, this.#wire]
    if (socket.readyState !== socket.OPEN) return Promise.resolve()
    return new Promise((resolve) => {
      socket.send(text, () => {
        if (wire.timeout && socket.bufferedAmount === 0) wire.setTimeout(0)
        resolve()
      })
      // Node counts each byte that the peer reads as activity, even within one long text.
      if (!wire.timeout && socket.bufferedAmount > 0) wire.setTimeout(this.#stall_ms)
    })
  }

  close(code: number, reason: string): void {
    this.#flow.clear()
    this.#socket.close(code, reason.slice(0, 100))
  }

  onClose(listener: () => void): void {
    this.#closeListeners.push(listener)
  }

  /** Finishes the messages that were read before, then closes the socket with 1001. */
  async drain(): Promise<void> {
    const socket = this.#socket
    this.#isDraining = true
    socket.pause()
    await this.#flow.end({
      close: () => {
        socket.resume()
        this.close(1001, 'The gateway is shutting down.')
      },
      terminate: () => socket.terminate(),
      closed: new Promise<void>((resolve) => {
        if (socket.readyState === socket.CLOSED) resolve()
        else socket.once('close', () => resolve())
      }),
    })
  }

  #pause(): void {
    this.#socket.pause()
    void this.#flow.ready().then(() => {
      if (!this.#isDraining) this.#socket.resume()
    })
  }

  #closeStalled(): void {
    this.close(1013, 'Read faster.')
    setTimeout(() => this.#socket.terminate(), stalledMilliseconds).unref()
  }

  #onSocketClose(): void {
    this.#flow.close()
    this.#closed.abort()
    for (const listener of this.#closeListeners) listener()
  }

  #fail(fault: unknown): void {
    this.#onError(fault)
    this.close(1011, 'An unexpected error occurred; it has been logged.')
  }
}
