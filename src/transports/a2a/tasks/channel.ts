import { setTimeout as pause } from 'node:timers/promises'
import { isBusy, type StoredTask } from '../../../../schemas/task.ts'
import { differences } from './change.ts'
import { EventQueue } from './event-queue.ts'
import { type StreamEvent, showTask } from './view.ts'

/** Maximum number of queued events of a listener. */
const maxQueued = 256
/** Maximum time for which work waits for a listener with a full queue, before the listener is dropped. */
const stallMilliseconds = 5000

/** One task in this process: its latest state and its listeners, who all get the same events in the same order. */
export class TaskChannel {
  readonly #queues = new Set<EventQueue<StreamEvent>>()
  readonly #onLeave: () => void
  readonly #stall_ms: number
  #task: StoredTask

  /** `onLeave` is called whenever a listener leaves. */
  constructor(task: StoredTask, onLeave: () => void, stall_ms = stallMilliseconds) {
    this.#task = task
    this.#onLeave = onLeave
    this.#stall_ms = stall_ms
  }

  get task(): StoredTask {
    return this.#task
  }

  get listeners(): number {
    return this.#queues.size
  }

  /** Adds a listener; its first event is the current task. */
  follow(): EventQueue<StreamEvent> {
    const queue = new EventQueue<StreamEvent>(maxQueued, () => {
      this.#queues.delete(queue)
      this.#onLeave()
    })
    this.#queues.add(queue)
    queue.push({ task: showTask(this.#task) })
    return queue
  }

  /** Replaces the task, and sends the events that describe the change. */
  publish(task: StoredTask, events: readonly StreamEvent[]): void {
    this.#task = task
    for (const queue of this.#queues) for (const event of events) queue.push(event)
  }

  /** Resolves when no listener has a full queue. A listener that does not read is dropped. */
  async ready(): Promise<void> {
    const full = [...this.#queues].filter((queue) => queue.isFull)
    await Promise.all(full.map((queue) => this.#roomIn(queue)))
  }

  /** Ends the streams of the current listeners. */
  end(): void {
    for (const queue of this.#queues) queue.end()
  }

  async #roomIn(queue: EventQueue<StreamEvent>): Promise<void> {
    const settled = new AbortController()
    const late = pause(this.#stall_ms, 'late', { signal: settled.signal }).catch(() => 'settled')
    if ((await Promise.race([queue.ready(), late])) === 'late') queue.leave()
    settled.abort()
  }
}

/**
 * Publishes the changes of the task by another process, or by another message, until the signal aborts. A read that fails
 * is tried again: the listeners hear of the end, however long the database is away.
 */
export async function watch(
  channel: TaskChannel,
  read: () => Promise<StoredTask | undefined>,
  poll_ms: number,
  signal: AbortSignal,
  onError: (fault: unknown) => void,
): Promise<void> {
  while (!signal.aborted) {
    await pause(poll_ms, undefined, { signal }).catch(() => {})
    if (signal.aborted) return
    const before = channel.task
    try {
      const now = await read()
      // A worker in this process publishes its changes itself.
      if (signal.aborted || channel.task !== before) continue
      if (!now) return channel.end()
      const events = differences(before, now)
      channel.publish(now, events)
      if (events.length > 0 && !isBusy(now.state)) channel.end()
    } catch (fault) {
      onError(fault)
    }
  }
}
