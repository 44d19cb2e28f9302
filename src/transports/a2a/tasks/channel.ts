import { setTimeout as pause } from 'node:timers/promises'
import { isBusy, type StoredTask } from '../../../../schemas/task.ts'
import { differences } from './change.ts'
import { createOutlet, type Outlet } from './event-queue.ts'
import { type StreamEvent, showTask } from './view.ts'

/** Events that a listener may have waiting. */
const mostWaiting = 256
/** How long work waits for one that does not take them, before it is left behind. */
const patienceMilliseconds = 5000

/** One task as this process sees it: what it is now, and who listens. All of them get the same in the same order. */
export interface Channel {
  readonly task: () => StoredTask
  /** From what it is now on. */
  follow(): Outlet<StreamEvent>
  /** It became this, which these events say. */
  publish(task: StoredTask, events: readonly StreamEvent[]): void
  /** Resolves when every listener can take more, or has been left behind. */
  room(): Promise<void>
  /** No more events for those who listen now. */
  end(): void
  readonly listeners: () => number
}

/** `left` is called whenever a listener goes. */
export function createChannel(
  first: StoredTask,
  left: () => void,
  patience_ms = patienceMilliseconds,
): Channel {
  const outlets = new Set<Outlet<StreamEvent>>()
  let task = first

  return {
    task: () => task,
    follow() {
      const outlet: Outlet<StreamEvent> = createOutlet<StreamEvent>(mostWaiting, () => {
        outlets.delete(outlet)
        left()
      })
      outlets.add(outlet)
      outlet.push({ task: showTask(task) })
      return outlet
    },
    publish(next, events) {
      task = next
      for (const outlet of outlets) for (const event of events) outlet.push(event)
    },
    async room() {
      const full = [...outlets].filter((outlet) => outlet.isFull())
      await Promise.all(full.map((outlet) => roomIn(outlet, patience_ms)))
    },
    end() {
      for (const outlet of outlets) outlet.end()
    },
    listeners: () => outlets.size,
  }
}

async function roomIn(outlet: Outlet<StreamEvent>, patience_ms: number): Promise<void> {
  const enough = new AbortController()
  const late = pause(patience_ms, 'late', { signal: enough.signal }).catch(() => 'enough')
  if ((await Promise.race([outlet.room(), late])) === 'late') outlet.cut()
  enough.abort()
}

/** Tells those who listen what another process, or another message, makes of the task; until the signal aborts. */
export async function watch(
  channel: Channel,
  read: () => Promise<StoredTask | undefined>,
  every_ms: number,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await pause(every_ms, undefined, { signal }).catch(() => {})
    if (signal.aborted) return
    const before = channel.task()
    const now = await read()
    // Whoever works on it here says so itself.
    if (signal.aborted || channel.task() !== before) continue
    if (!now) return channel.end()
    const events = differences(before, now)
    channel.publish(now, events)
    if (events.length > 0 && !isBusy(now.state)) channel.end()
  }
}
