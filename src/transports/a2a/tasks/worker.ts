import { Failure } from '../../../../schemas/failure.ts'
import {
  busyStates,
  handedOver,
  isBusy,
  type Part,
  type StoredTask,
  type TaskState,
} from '../../../../schemas/task.ts'
import { refusal } from '../protocol/error.ts'
import type { WorkUpdate } from '../work.ts'
import { createMeter, saysNothing, update } from './change.ts'
import type { TaskChannel } from './channel.ts'
import type { TaskTimes } from './limits.ts'
import { type StreamEvent, statusEvent } from './view.ts'

interface WorkerOptions {
  readonly channel: TaskChannel
  /** Saves the task if its state is one of these; false if it is not. */
  readonly save: (task: StoredTask, from: readonly TaskState[]) => Promise<boolean>
  readonly read: () => Promise<StoredTask | undefined>
  readonly clock: () => number
  readonly times: TaskTimes
  /** Stops the action that works on the task. */
  readonly abort: (reason: Failure) => void
  readonly onError: (fault: unknown) => void
  /** Called with the task when its state has changed. */
  readonly changed: (task: StoredTask) => void
}

/**
 * The work on one task in this process. Updates are applied one after the other. Listeners get them at once; the
 * database gets them at each heartbeat and at the end.
 */
export class TaskWorker {
  readonly #options: WorkerOptions
  readonly #measure: ReturnType<typeof createMeter>
  readonly #ended = Promise.withResolvers<StoredTask>()
  readonly #heartbeat: NodeJS.Timeout
  #isOver = false
  /** The last update; the next one waits for it. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: WorkerOptions) {
    this.#options = options
    this.#measure = createMeter(options.channel.task.artifacts)
    const beat = () => void this.#inTurn(() => this.#beat()).catch(options.onError)
    this.#heartbeat = setInterval(beat, options.times.heartbeat).unref()
  }

  /** Resolves with the final state of the task. */
  get ended(): Promise<StoredTask> {
    return this.#ended.promise
  }

  /** Applies an update. Resolves when the listeners can take more. */
  async tell(change: WorkUpdate): Promise<void> {
    await this.#inTurn(() => this.#take(change))
    await this.#options.channel.ready()
  }

  /** Ends the task in this state unless it has ended already; resolves with the final state of the task. */
  end(state: TaskState, parts?: readonly Part[]): Promise<StoredTask> {
    return this.#inTurn(async () =>
      this.#isOver ? this.#options.channel.task : await this.#finish({ state, ...(parts && { parts }) }),
    )
  }

  /** Leaves the task to another process, which finds its lease over. */
  release(): Promise<void> {
    return this.#inTurn(async () => {
      const { channel, save } = this.#options
      if (this.#isOver) return
      const task = { ...channel.task, alive_until: this.#at() }
      await save(task, busyStates).catch(this.#options.onError)
      this.#end(task, handedOver)
    })
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work)
    this.#last = turn.catch(() => {})
    return turn
  }

  async #take(change: WorkUpdate): Promise<void> {
    if (this.#isOver) throw refusal('UNSUPPORTED_OPERATION', 'The task is over.')
    this.#measure(change)
    if ('state' in change && !isBusy(change.state)) {
      await this.#finish(change)
      return
    }
    const { channel } = this.#options
    if (saysNothing(channel.task, change)) return
    const before = channel.task.state
    const { task, event } = update(channel.task, change, this.#at())
    channel.publish(task, [event])
    if (task.state !== before) this.#options.changed(task)
  }

  async #finish(change: WorkUpdate): Promise<StoredTask> {
    const { channel, save, times, onError } = this.#options
    const idle = { ...channel.task, expires_at: this.#at(times.retention), alive_until: null }
    const { task, event } = update(idle, change, this.#at())
    try {
      if (!(await save(task, busyStates))) return await this.#lose()
    } catch (fault) {
      // The listeners still get the final event; the row expires by itself.
      onError(fault)
    }
    return this.#close(task, [event])
  }

  async #beat(): Promise<void> {
    const { channel, save, times } = this.#options
    if (this.#isOver) return
    const alive = {
      ...channel.task,
      expires_at: this.#at(times.retention),
      alive_until: this.#at(times.lease),
    }
    if (!(await save(alive, busyStates))) await this.#lose()
  }

  /** Another process has cancelled the task, or marked it as failed: the stored row decides. */
  async #lose(): Promise<StoredTask> {
    const { channel, read } = this.#options
    const task = (await read()) ?? { ...channel.task, state: 'TASK_STATE_FAILED' as const }
    return this.#close(task, [statusEvent(task)])
  }

  #close(task: StoredTask, events: readonly StreamEvent[]): StoredTask {
    this.#options.changed(task)
    this.#options.channel.publish(task, events)
    this.#end(task, new Failure('cancelled', 'The task is over.'))
    return task
  }

  #end(task: StoredTask, reason: Failure): void {
    this.#isOver = true
    clearInterval(this.#heartbeat)
    this.#options.channel.end()
    this.#options.abort(reason)
    this.#ended.resolve(task)
  }

  #at(after = 0): string {
    return new Date(this.#options.clock() + after).toISOString()
  }
}
