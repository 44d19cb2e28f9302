import type { Socket } from 'node:net'
import type { RawData, WebSocket } from 'ws'
import { Failure } from '../../../schemas/failure.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { startHeartbeat } from '../../common/heartbeat.ts'
import type { Client } from '../../router/call.ts'
import { costs, type LimitedCaller } from '../../router/limiter.ts'
import { FlowControl, type Task } from '../shared/flow-control.ts'
import { gather } from '../shared/gather.ts'
import { type MessageLimits, messageLimits } from '../shared/message.ts'
import type { TransportContext } from '../shared/transport-context.ts'
import type { Backlog } from './backlog.ts'

/** Time for a peer that reads too slowly to read the close frame. */
const stalledMilliseconds = 5000
/** Maximum cost of the messages that a caller sends while each of them is refused for its cost. */
const maxRefusedUnits = 250

export interface SocketTimeouts {
  /** Between two pings. */
  readonly beat_ms?: number
  /** Maximum time for which sent data may stay unread by the peer. */
  readonly stall_ms?: number
}

export interface ConnectionOptions extends SocketTimeouts {
  readonly client: Client
  /** The caller when the socket was opened. */
  readonly principal: Principal | null
  /** The TCP socket under the WebSocket. */
  readonly wire: Socket
  readonly identify: () => Principal | null | Promise<Principal>
  readonly limits: TransportContext['limits']
  /** What all sockets have sent and what is not answered. */
  readonly backlog: Backlog
  readonly onClose: () => void
  /** Receives an error that a task throws; the socket then closes with 1011. */
  readonly onError: (fault: unknown) => void
}

/** One open socket that receives and sends text, under the limits of every WebSocket endpoint. */
export class Connection {
  readonly client: Client
  readonly messageLimits: MessageLimits
  readonly #caller: LimitedCaller
  readonly #limits: TransportContext['limits']
  readonly #socket: WebSocket
  readonly #wire: Socket
  readonly #identify: ConnectionOptions['identify']
  readonly #onError: ConnectionOptions['onError']
  readonly #stall_ms: number
  readonly #closed = new AbortController()
  readonly #flow: FlowControl
  readonly #backlog: Backlog
  readonly #unanswered = new Set<() => void>()
  readonly #closeListeners: (() => void)[]
  #isDraining = false
  #refusedUnits = 0
  /** When the last message arrived, on the clock of `performance.now`. */
  usedAt = performance.now()

  /** Takes an accepted socket and pauses it until `read`. */
  constructor(socket: WebSocket, options: ConnectionOptions) {
    const { client, principal, wire, onClose, beat_ms = 30_000, stall_ms = 10_000 } = options
    this.client = client
    this.messageLimits = messageLimits(principal)
    this.#caller = { principal, client }
    this.#limits = options.limits
    this.#backlog = options.backlog
    this.#socket = socket
    this.#wire = wire
    this.#identify = options.identify
    this.#onError = options.onError
    this.#stall_ms = stall_ms
    this.#flow = new FlowControl((fault) => this.#fail(fault))
    this.#closeListeners = [onClose]
    socket.pause()
    startHeartbeat(socket, wire, beat_ms)
    wire.on('timeout', () => this.giveUp('Read faster.'))
    socket.on('error', () => {})
    socket.on('close', () => this.#onSocketClose())
  }

  /** True if the caller has no token and waits for no answer. */
  get isIdle(): boolean {
    return this.#caller.principal === null && this.#flow.isIdle
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
      else this.endToken()
      return undefined
    }
  }

  /** Closes the socket of a caller whose token is no longer valid. */
  endToken(): void {
    this.close(1008, 'The token is no longer valid.')
  }

  /** The Failure `rate_limited` of a caller whose requests have cost too much. */
  overCost(): Failure | undefined {
    return this.#limits.overCost(this.#caller)
  }

  /** Begins to read. `prepare` receives one text at a time; its tasks run under the limits of FlowControl. */
  read(prepare: (text: string) => Task): void {
    const socket = this.#socket
    socket.on('message', (data: RawData, binary: boolean) => {
      if (socket.readyState !== socket.OPEN) return
      if (binary) return this.close(1003, 'Send text.')
      try {
        const text = data.toString()
        this.usedAt = performance.now()
        const units = costs.request + text.length * costs.receivedByte
        this.#charge(units)
        if (this.#ignoresRefusals(units)) return this.giveUp('Your requests cost too much. Reconnect later.')
        const answered = this.#backlog.add(this.#caller, text.length)
        if (!answered) return this.giveUp('Too much of what you have sent is unanswered. Reconnect later.')
        this.#unanswered.add(answered)
        if (!this.#flow.add(this.#counted(prepare(text), answered), text.length)) this.#pause()
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
    this.#charge(text.length * costs.sentByte)
    // Node counts each byte that the peer reads as activity, even within one long text.
    gather(wire, () => {
      if (!wire.timeout && socket.bufferedAmount > 0) wire.setTimeout(this.#stall_ms)
    })
    return new Promise((resolve) => {
      socket.send(text, () => {
        if (wire.timeout && socket.bufferedAmount === 0) wire.setTimeout(0)
        resolve()
      })
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

  #charge(units: number): void {
    this.#limits.charge(this.#caller, units)
  }

  #ignoresRefusals(units: number): boolean {
    this.#refusedUnits = this.overCost() ? this.#refusedUnits + units : 0
    return this.#refusedUnits > maxRefusedUnits
  }

  /** The task, which says when it has ended; those that the socket drops at its end never begin. */
  #counted(task: Task, answered: () => void): Task {
    const done = () => {
      this.#unanswered.delete(answered)
      answered()
    }
    return { ...(task.urgent && { urgent: true }), run: () => task.run().finally(done) }
  }

  #pause(): void {
    this.#socket.pause()
    void this.#flow.ready().then(() => {
      if (!this.#isDraining) this.#socket.resume()
    })
  }

  /** Closes the socket with 1013, and cuts it off if the peer does not answer. */
  giveUp(reason: string): void {
    this.close(1013, reason)
    setTimeout(() => this.#socket.terminate(), stalledMilliseconds).unref()
  }

  #onSocketClose(): void {
    this.#flow.close()
    this.#closed.abort()
    for (const answered of this.#unanswered) answered()
    for (const listener of this.#closeListeners) listener()
  }

  #fail(fault: unknown): void {
    this.#onError(fault)
    this.close(1011, 'An unexpected error occurred; it has been logged.')
  }
}
