import { maxMessageBytes } from '../../../schemas/plain.ts'

/** Maximum number of messages of one connection that are processed at the same time. */
export const maxInFlight = 16
/** Maximum number of queued messages of one connection, so that a cancellation among them is read early. */
export const maxQueued = 64
/** Total length of the queued messages, in characters. */
const maxQueuedLength = maxMessageBytes

/** Time for the tasks of a connection that drains. Before that, a gateway that stops fails the calls that still run. */
export const drainMilliseconds = 11_000
/** Time for a connection to close once its tasks have ended; a peer that does not read takes longer. */
const closeMilliseconds = 1000

/** How a transport ends one of its connections. */
interface Ending {
  /** Closes when the peer has read all sent data. */
  close(): void
  /** Closes at once. */
  terminate(): void
  /** Resolves once the connection has closed. */
  readonly closed: Promise<unknown>
}

/** The work for one message. */
export interface Task {
  /** True for a task that skips the queue: a cancellation overtakes the requests that it cancels. */
  readonly urgent?: boolean
  run(): Promise<void>
}

/**
 * The limits of one connection, for every transport with open connections: at most 16 messages are processed at the
 * same time, and a few more are queued. While the queue is full, the transport must stop reading. `add` works like
 * `write` of a Node.js stream: after `false` the transport stops reading until `ready` has resolved.
 */
export class FlowControl {
  readonly #onError: (fault: unknown) => void
  readonly #queue: { readonly task: Task; readonly length: number }[] = []
  #inFlight = 0
  #queuedLength = 0
  readonly #roomListeners: (() => void)[] = []
  readonly #idleListeners: (() => void)[] = []

  /** `onError` receives the errors of tasks. */
  constructor(onError: (fault: unknown) => void) {
    this.#onError = onError
  }

  /**
   * Runs a task, or queues it. `length` is the length of its message in characters. Returns false if the queue is
   * full.
   */
  add(task: Task, length = 0): boolean {
    if (this.#inFlight < maxInFlight || task.urgent) void this.#run(task)
    else {
      this.#queue.push({ task, length })
      this.#queuedLength += length
    }
    return !this.isFull
  }

  get isFull(): boolean {
    return this.#queue.length >= maxQueued || this.#queuedLength >= maxQueuedLength
  }

  get isIdle(): boolean {
    return this.#inFlight === 0
  }

  /** Resolves once the queue is no longer full. */
  ready(): Promise<void> {
    if (!this.isFull) return Promise.resolve()
    return new Promise((resolve) => this.#roomListeners.push(resolve))
  }

  /** Drops the queued messages: their tasks never run. */
  clear(): void {
    this.#queue.length = 0
    this.#queuedLength = 0
    this.#settle()
  }

  /** Called when the connection has closed: drops the queued messages and ends every `drain`. */
  close(): void {
    this.clear()
    this.#release(this.#idleListeners)
  }

  /**
   * Waits until every running and queued task has ended, at most `deadline_ms`. The transport must not add tasks
   * during this time.
   */
  async drain(deadline_ms: number): Promise<void> {
    if (this.#inFlight === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#idleListeners.push(resolve)
    const timer = setTimeout(resolve, deadline_ms)
    await promise
    clearTimeout(timer)
  }

  /** Drains, closes the connection and resolves once it has closed. The transport must not read during this time. */
  async end({ close, terminate, closed }: Ending): Promise<void> {
    await this.drain(drainMilliseconds)
    close()
    const timer = setTimeout(terminate, closeMilliseconds)
    await closed
    clearTimeout(timer)
  }

  async #run(task: Task): Promise<void> {
    this.#inFlight += 1
    try {
      await task.run()
    } catch (fault) {
      this.#onError(fault)
    } finally {
      this.#inFlight -= 1
      this.#next()
    }
  }

  #next(): void {
    const next = this.#inFlight < maxInFlight ? this.#queue.shift() : undefined
    if (next) {
      this.#queuedLength -= next.length
      void this.#run(next.task)
    }
    this.#settle()
  }

  #settle(): void {
    if (!this.isFull) this.#release(this.#roomListeners)
    if (this.#inFlight === 0) this.#release(this.#idleListeners)
  }

  #release(listeners: (() => void)[]): void {
    if (listeners.length > 0) for (const listener of listeners.splice(0)) listener()
  }
}
