import { Failure } from '../../../../schemas/failure.ts'
import { busyStates, isBusy, type Part, type StoredTask, type TaskState } from '../../../../schemas/task.ts'
import { refusal } from '../protocol/error.ts'
import type { TaskUpdate, Tell } from '../work.ts'
import { change, createGauge } from './change.ts'
import type { Channel } from './channel.ts'
import type { Spans } from './limits.ts'
import { statusEvent } from './view.ts'

/** Work on one task in this process. */
export interface Worker {
  readonly tell: Tell
  /** Ends it so, where it has not ended otherwise; the task as it ended. */
  end(state: TaskState, parts?: readonly Part[]): Promise<StoredTask>
  readonly ended: Promise<StoredTask>
}

export interface WorkerOptions {
  readonly channel: Channel
  /** Writes the task where it is in one of these states; false where it is not. */
  readonly save: (task: StoredTask, from: readonly TaskState[]) => Promise<boolean>
  readonly read: () => Promise<StoredTask | undefined>
  readonly clock: () => number
  readonly spans: Spans
  /** Stops whoever works. */
  readonly abort: (reason: Failure) => void
  readonly onError: (fault: unknown) => void
}

/** Takes what is told one after the other: into the row at intervals and at the end, to those who listen at once. */
export function startWorker(options: WorkerOptions): Worker {
  const { channel, save, read, clock, spans, abort, onError } = options
  const { promise: ended, resolve } = Promise.withResolvers<StoredTask>()
  const gauge = createGauge()
  let over = false
  let last: Promise<unknown> = Promise.resolve()

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = last.then(work)
    last = turn.catch(() => {})
    return turn
  }

  const beat = setInterval(() => void inTurn(stillAlive).catch(onError), spans.beat)
  beat.unref()

  const at = (after = 0) => new Date(clock() + after).toISOString()

  /** What it is in the row, for as long as this process lives. */
  function alive(task: StoredTask): StoredTask {
    return { ...task, expires_at: at(spans.keep), alive_until: at(spans.believe) }
  }

  async function stillAlive(): Promise<void> {
    if (over || (await save(alive(channel.task()), busyStates))) return
    await lost()
  }

  /** The row says otherwise: it was cancelled, or given up, by another process. */
  async function lost(): Promise<StoredTask> {
    const now = (await read()) ?? { ...channel.task(), state: 'TASK_STATE_FAILED' as const }
    return close(now, [statusEvent(now)])
  }

  function close(task: StoredTask, events: Parameters<Channel['publish']>[1]): StoredTask {
    over = true
    clearInterval(beat)
    channel.publish(task, events)
    channel.end()
    abort(new Failure('cancelled', 'The task is over.'))
    resolve(task)
    return task
  }

  async function finish(told: TaskUpdate): Promise<StoredTask> {
    const idle = { ...channel.task(), expires_at: at(spans.keep), alive_until: null }
    const { task: final, event } = change(idle, told, at())
    try {
      if (!(await save(final, busyStates))) return await lost()
    } catch (fault) {
      // Those who listen hear of it still; the row lapses by itself.
      onError(fault)
    }
    return close(final, [event])
  }

  async function take(told: TaskUpdate): Promise<void> {
    if (over) throw refusal('UNSUPPORTED_OPERATION', 'The task is over.')
    gauge(told)
    if ('state' in told && !isBusy(told.state)) {
      await finish(told)
      return
    }
    const { task, event } = change(channel.task(), told, at())
    channel.publish(task, [event])
  }

  return {
    ended,
    async tell(told) {
      await inTurn(() => take(told))
      await channel.room()
    },
    end: (state, parts) =>
      inTurn(async () => (over ? channel.task() : await finish({ state, ...(parts && { parts }) }))),
  }
}
