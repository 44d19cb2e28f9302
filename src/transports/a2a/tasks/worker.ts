import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from '../../../../schemas/failure.ts'
import {
  busyStates,
  handedOver,
  isBusy,
  type Part,
  type StoredTask,
  type TaskState,
  type TaskStore,
} from '../../../../schemas/task.ts'
import { refusal } from '../protocol/error.ts'
import type { WorkUpdate } from '../work.ts'
import { createMeter, saysNothing, update } from './change.ts'
import type { TaskChannel } from './channel.ts'
import type { TaskTimes } from './limits.ts'
import { type StreamEvent, statusEvent } from './view.ts'

interface WorkerOptions {
  readonly channel: TaskChannel
  readonly store: Pick<TaskStore, 'get' | 'save'>
  readonly clock: () => number
  readonly times: TaskTimes
  /** Stops the action that works on the task. */
  readonly abort: (reason: Failure) => void
  readonly onError: (fault: unknown) => void
  /** Called with the task when this worker has changed its state. */
  readonly changed: (task: StoredTask) => void
}

/**
 * The work on one task in this process, under the name of its holder. Updates are applied one after the other. Listeners
 * get them at once, but the end of the work once it is stored: only what is stored is an end.
 */
export class TaskWorker {
  readonly #options: WorkerOptions
  readonly #holder: string
  readonly #measure: ReturnType<typeof createMeter>
  readonly #ended = Promise.withResolvers<StoredTask>()
  readonly #heartbeat: NodeJS.Timeout
  /** Aborts when the gateway stops: it waits for the database no longer. */
  readonly #stopping = new AbortController()
  #isBeating = false
  #isOver = false
  /** The last update; the next one waits for it. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: WorkerOptions) {
    this.#options = options
    this.#holder = options.channel.task.holder
    this.#measure = createMeter(options.channel.task.artifacts)
    this.#heartbeat = setInterval(() => this.#beat(), options.times.heartbeat).unref()
  }

  /** Resolves with the task when its work has ended here: it is over or interrupted, or another process works on it. */
  get ended(): Promise<StoredTask> {
    return this.#ended.promise
  }

  get holder(): string {
    return this.#holder
  }

  /** Applies an update. Resolves when the listeners can take more. */
  async tell(change: WorkUpdate): Promise<void> {
    await this.#inTurn(() => this.#take(change))
    await this.#options.channel.ready()
  }

  /** Ends the task in this state unless it has ended already; resolves with the task as it is then. */
  end(state: TaskState, parts?: readonly Part[]): Promise<StoredTask> {
    return this.#inTurn(async () =>
      this.#isOver ? this.#options.channel.task : await this.#finish({ state, ...(parts && { parts }) }),
    )
  }

  /** Leaves the task to any process, after so many milliseconds. */
  release(after = 0): Promise<void> {
    // Before the database answers: whatever ends the call before that would cancel the task at its agent.
    this.#options.abort(handedOver)
    return this.#inTurn(async () => {
      if (this.#isOver) return
      const { channel, times } = this.#options
      const task = {
        ...channel.task,
        holder: '',
        expires_at: this.#at(times.retention),
        alive_until: this.#at(after),
      }
      await this.#save(task, busyStates).catch(this.#options.onError)
      this.#end(task, handedOver)
    })
  }

  /** An end that cannot be stored now is not stored at all. */
  stopWaiting(): void {
    this.#stopping.abort()
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
    const { channel, times } = this.#options
    const last = {
      ...channel.task,
      expires_at: this.#at(times.retention),
      alive_until: this.#at(times.lease),
    }
    const { task, event } = update(last, change, this.#at())
    const stored = await this.#storeEnd(task)
    if (!stored) return this.#leave(channel.task)
    if (stored !== task) return stored
    this.#options.changed(task)
    return this.#close(task, [event])
  }

  /**
   * Stores the end of the work, however long the database is away: if another process takes the task over in the
   * meantime, its end counts. Resolves to the task as it is then; undefined if the gateway stops before.
   */
  async #storeEnd(task: StoredTask): Promise<StoredTask | undefined> {
    const { times, onError } = this.#options
    const { signal } = this.#stopping
    for (;;) {
      try {
        // The answer to an earlier attempt may be lost.
        const isStored = await this.#save(task, [...busyStates, task.state])
        return isStored ? task : await this.#lose()
      } catch (fault) {
        onError(fault)
      }
      if (signal.aborted) return undefined
      await pause(times.heartbeat, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  #beat(): void {
    if (this.#isBeating) return
    this.#isBeating = true
    void this.#inTurn(() => this.#renew())
      .catch(this.#options.onError)
      .finally(() => {
        this.#isBeating = false
      })
  }

  async #renew(): Promise<void> {
    const { channel, times } = this.#options
    if (this.#isOver || this.#stopping.signal.aborted) return
    const alive = {
      ...channel.task,
      expires_at: this.#at(times.retention),
      alive_until: this.#at(times.lease),
    }
    if (!(await this.#save(alive, busyStates))) await this.#lose()
  }

  /** Another process holds the task: what is stored decides, and that process tells its addresses. */
  async #lose(): Promise<StoredTask> {
    const { channel, store } = this.#options
    const task = await store.get(channel.task.id)
    if (!task) return this.#close({ ...channel.task, state: 'TASK_STATE_FAILED' }, [])
    return isBusy(task.state) ? this.#leave(task) : this.#close(task, [statusEvent(task)])
  }

  /** Another process goes on with the task: its listeners stay, and its agent hears of no end. */
  #leave(task: StoredTask): StoredTask {
    this.#end(task, handedOver)
    return task
  }

  #close(task: StoredTask, events: readonly StreamEvent[]): StoredTask {
    this.#options.channel.publish(task, events)
    this.#options.channel.end()
    this.#end(task, new Failure('cancelled', 'The task is over.'))
    return task
  }

  #end(task: StoredTask, reason: Failure): void {
    this.#isOver = true
    clearInterval(this.#heartbeat)
    this.#options.abort(reason)
    this.#ended.resolve(task)
  }

  #save(task: StoredTask, states: readonly TaskState[]): Promise<boolean> {
    return this.#options.store.save(task, { holder: this.#holder, states })
  }

  #at(after = 0): string {
    return new Date(this.#options.clock() + after).toISOString()
  }
}
