import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { type Code, Failure } from '../../../../schemas/failure.ts'
import { isRecord, type JsonObject } from '../../../../schemas/json.ts'
import type { Principal } from '../../../../schemas/scope.ts'
import {
  busyStates,
  interruptedStates,
  isBusy,
  isTerminal,
  type StoredTask,
  type TaskFilter,
  type TaskPage,
  type TaskStore,
} from '../../../../schemas/task.ts'
import { principalKey } from '../../../common/principal-key.ts'
import { refusal } from '../protocol/error.ts'
import type { Tell, WorkUpdate } from '../work.ts'
import { Announcements } from './announcements.ts'
import { differences } from './change.ts'
import { TaskChannel, watch } from './channel.ts'
import type { EventQueue } from './event-queue.ts'
import { standardLimits, standardTimes, type TaskLimits, type TaskTimes } from './limits.ts'
import { type NewWork, queueFull, submittedTask } from './new-task.ts'
import { type PushConfig, PushNotifications, type PushPort } from './push.ts'
import { fromAgent, type StreamEvent, statusEvent } from './view.ts'
import { TaskWorker } from './worker.ts'

export interface TaskManagerOptions {
  readonly store: TaskStore
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  readonly onError: (fault: unknown) => void
  readonly limits?: TaskLimits
  readonly times?: Partial<TaskTimes>
  /** How notifications leave; without it, push notifications are not supported. */
  readonly push?: PushPort
}

/** The work has answered with a message, and there is no task. */
interface DirectAnswer {
  readonly message: JsonObject
}

interface StartedTask {
  readonly task: StoredTask
  /** The events of the task from its start on. */
  readonly events: EventQueue<StreamEvent>
  /** Resolves with the task when the work has ended: the task is over or interrupted. */
  readonly ended: Promise<StoredTask>
}

/** The message of a task whose process could not store one itself. */
const lostWorker = 'The process that worked on the task ended.'
const unfinishedStates = [...busyStates, ...interruptedStates]
const maxReferences = 20
const maxListeners = 32

/** The tasks of A2A. This process starts them and works on them; the database stores them. */
export class TaskManager implements AsyncDisposable {
  readonly #options: TaskManagerOptions
  readonly #limits: TaskLimits
  readonly times: TaskTimes
  readonly #channels = new Map<string, TaskChannel>()
  readonly #workers = new Map<string, TaskWorker>()
  readonly #watchers = new Map<string, AbortController>()
  readonly #push: PushNotifications | undefined
  readonly #announcements: Announcements | undefined
  #isClosed = false

  constructor(options: TaskManagerOptions) {
    this.#options = options
    this.#limits = options.limits ?? standardLimits
    this.times = { ...standardTimes, ...options.times }
    const { store, onError, push: port } = options
    const push = port && new PushNotifications({ store, onError, port })
    this.#push = push
    this.#announcements =
      push &&
      new Announcements({ push, store, at: (after) => this.#at(after), lease: this.times.lease, onError })
  }

  /** Throws A2aRefusal PUSH_NOTIFICATION_NOT_SUPPORTED. */
  get push(): PushNotifications {
    if (this.#push) return this.#push
    throw refusal('PUSH_NOTIFICATION_NOT_SUPPORTED')
  }

  /** The number of tasks in memory: those that this process works on, and those that have a listener. */
  get size(): number {
    return this.#channels.size
  }

  /**
   * Starts the work. Resolves once its first update has created the task, or with its message; rejects with an error that is thrown before
   * that.
   */
  async begin(work: NewWork): Promise<StartedTask | DirectAnswer> {
    if (this.#isClosed) throw new Failure('unavailable', 'The gateway is shutting down.')
    const { onError } = this.#options
    const abort = new AbortController()
    const { promise, resolve, reject } = Promise.withResolvers<StartedTask | DirectAnswer>()
    let opened: Promise<TaskWorker> | undefined
    const tell: Tell = async (change) => {
      opened ??= this.#open(work, change, abort, resolve)
      await (await opened).tell(change)
    }
    const complete = async (message: unknown) => {
      if (opened) return await completeBy(await opened, message)
      if (!isRecord(message)) return reject(new Error('The work sent no update.'))
      const { taskId: _, ...rest } = message as JsonObject
      const ids = work.task && { taskId: work.task.id, contextId: work.task.context_id }
      resolve({ message: { ...rest, ...ids } })
    }
    const fail = async (thrown: unknown) => {
      const worker = await opened?.catch(() => undefined)
      if (!worker) return reject(thrown)
      await worker.end('TASK_STATE_FAILED', work.explain(thrown))
    }
    work
      .run({ ...work.call, signal: abort.signal }, tell)
      .then(complete, fail)
      .catch(onError)
    return await promise
  }

  /**
   * Takes over a task whose holder has let its lease expire: goes on with the work that is given, or lets the task fail
   * if there is none; posts the end of one that has ended. Does nothing if the holder, or another process, was faster.
   */
  async takeOver(task: StoredTask, work?: Pick<NewWork, 'run' | 'call' | 'explain'>): Promise<void> {
    const { id, holder, state } = task
    // Its worker is here, and only late: it renews its lease itself.
    if (this.#isClosed || task.alive_until === null || this.#workers.get(id)?.holder === holder) return
    const { store, onError } = this.#options
    const held = { ...task, holder: randomUUID(), alive_until: this.#at(this.times.lease) }
    const taken = !isBusy(state) ? held : work ? this.#workingOn(held) : this.#lost(held)
    if (!(await store.save(taken, { holder, states: [state], alive_until: task.alive_until }))) return
    if (!work || !isBusy(state)) return this.#announcements?.announce(taken)
    const abort = new AbortController()
    const worker = this.#employ(taken, abort, differences(this.#channelOf(taken).task, taken))
    const fail = async (thrown: unknown) => {
      if (mayPass(thrown)) await worker.release(this.times.lease)
      else await worker.end('TASK_STATE_FAILED', work.explain(thrown))
    }
    work
      .run({ ...work.call, signal: abort.signal }, (change) => worker.tell(change))
      .then((message) => completeBy(worker, message), fail)
      .catch(onError)
  }

  /** Throws A2aRefusal TASK_NOT_FOUND for an unknown task, and for a task that the caller is not allowed to see. */
  async get(id: string, caller: Principal | null): Promise<StoredTask> {
    const task = this.#workers.has(id) ? this.#channels.get(id)?.task : await this.#options.store.get(id)
    if (!task || !isVisible(task, caller)) throw refusal('TASK_NOT_FOUND')
    return task
  }

  /** The agents' references of tasks that the caller is allowed to see; other ids are left out. */
  async references(ids: readonly string[], caller: Principal | null): Promise<string[]> {
    const tasks = ids.slice(0, maxReferences).map((id) => this.get(id, caller).catch(() => undefined))
    return (await Promise.all(tasks)).flatMap((task) => task?.upstream?.task_id ?? [])
  }

  /** Adds an address for the changes of a task. It is told at once of a state that has come before. Throws Failure. */
  async addAddress(task: StoredTask, config: PushConfig, caller: Principal | null): Promise<object> {
    const { store } = this.#options
    const added = await this.push.create(task, config, caller)
    const now = await store.get(task.id)
    if (!now || isBusy(now.state)) return added
    const held = { ...now, alive_until: this.#at(this.times.lease) }
    const isHeld = await store.save(held, { holder: now.holder, states: [now.state] })
    if (isHeld) this.#announcements?.announce(held, added.id)
    return added
  }

  async list(filter: TaskFilter): Promise<TaskPage> {
    return await this.#options.store.list(filter)
  }

  /**
   * The agent of the task hears of it by `tellAgent`; while it works, it may refuse, or end the task in its own words.
   * Throws as `get` does, and A2aRefusal TASK_NOT_CANCELABLE.
   */
  async cancel(
    id: string,
    caller: Principal | null,
    tellAgent: (task: StoredTask) => Promise<void>,
  ): Promise<StoredTask> {
    const task = await this.get(id, caller)
    if (isTerminal(task.state)) throw refusal('TASK_NOT_CANCELABLE')
    const worker = this.#workers.get(id)
    const isFollowed = isBusy(task.state) && task.upstream?.followed === true
    if (isFollowed) {
      await tellAgent(task)
      const end = pause(this.times.cancel, undefined, { ref: false })
      if (worker) await Promise.race([worker.ended, end])
    }
    const ended = worker ? await worker.end('TASK_STATE_CANCELED') : task
    const cancelled = isTerminal(ended.state) ? ended : await this.#cancelElsewhere(ended)
    if (cancelled.state !== 'TASK_STATE_CANCELED') throw refusal('TASK_NOT_CANCELABLE')
    if (!worker && !isFollowed) await tellAgent(cancelled).catch(() => {})
    return cancelled
  }

  /** Throws as `get` does, and A2aRefusal UNSUPPORTED_OPERATION for a task that is over. */
  async subscribe(id: string, caller: Principal | null): Promise<EventQueue<StreamEvent>> {
    const task = await this.get(id, caller)
    if (isTerminal(task.state)) {
      throw refusal(
        'UNSUPPORTED_OPERATION',
        'The task is over; GetTask (in 0.3 tasks/get) returns its result.',
      )
    }
    const channel = this.#channelOf(task)
    if (channel.listeners >= maxListeners) {
      throw new Failure('rate_limited', `${maxListeners} streams listen to this task already.`, {
        hint: 'Close a stream, or poll GetTask.',
        retry_after_s: 5,
      })
    }
    const queue = channel.follow()
    if (!this.#workers.has(id)) this.#watch(channel)
    return queue
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    const workers = () => [...this.#workers.values()]
    const ended = Promise.all(workers().map((worker) => worker.ended))
    await Promise.race([ended, pause(this.times.shutdown, undefined, { ref: false })])
    const stopped = [{ text: 'The gateway stopped.' }]
    const endOf = async ([id, worker]: readonly [string, TaskWorker]) => {
      worker.stopWaiting()
      if (this.#channels.get(id)?.task.upstream?.followed) await worker.release()
      else await worker.end('TASK_STATE_FAILED', stopped)
    }
    await Promise.all([...this.#workers].map(endOf))
    for (const channel of this.#channels.values()) channel.end()
    for (const watcher of this.#watchers.values()) watcher.abort()
    await this.#announcements?.[Symbol.asyncDispose]()
  }

  async #open(
    work: NewWork,
    first: WorkUpdate,
    abort: AbortController,
    started: (task: StartedTask) => void,
  ): Promise<TaskWorker> {
    const { store } = this.#options
    const task = await this.#save(work, first)
    if (work.push) {
      await this.push.create(task, work.push, work.call.principal).catch(async (thrown) => {
        const before = work.task ?? { ...task, state: 'TASK_STATE_FAILED' as const, alive_until: null }
        await store.save(before, { holder: task.holder, states: busyStates })
        throw thrown
      })
    }
    const worker = this.#employ(task, abort, work.task ? [statusEvent(task)] : [])
    started({ task, events: this.#channelOf(task).follow(), ended: worker.ended })
    return worker
  }

  /** A worker of this process for a task; `begun` tells the listeners that it has begun. */
  #employ(task: StoredTask, abort: AbortController, begun: readonly StreamEvent[]): TaskWorker {
    const { store, clock, onError } = this.#options
    const channel = this.#channelOf(task)
    channel.publish(task, begun)
    const worker = new TaskWorker({
      channel,
      store,
      clock,
      times: this.times,
      abort: (reason) => abort.abort(reason),
      onError,
      changed: (changedTask) => this.#announcements?.announce(changedTask),
    })
    this.#workers.set(task.id, worker)
    void worker.ended.then(({ state }) => {
      if (this.#workers.get(task.id) !== worker) return
      this.#workers.delete(task.id)
      this.#forget(task.id)
      if (isBusy(state) && channel.listeners > 0) this.#watch(channel)
    })
    return worker
  }

  async #save(work: NewWork, first: WorkUpdate): Promise<StoredTask> {
    const { store } = this.#options
    const { task: before, call } = work
    const task = submittedTask(work, first, {
      updated_at: this.#at(),
      expires_at: this.#at(this.times.retention),
      alive_until: this.#at(this.times.lease),
    })
    if (before) {
      if (await store.save(task, { holder: before.holder, states: [before.state] })) return task
      throw refusal('UNSUPPORTED_OPERATION', 'Another message has continued the task in the meantime.')
    }
    const { owner, address, all } = this.#limits
    const result = await store.add(task, call.principal ? owner : address, all)
    if (result !== 'added') throw queueFull(result)
    return task
  }

  /** Each task has one channel, so that all its listeners see the same events. */
  #channelOf(task: StoredTask): TaskChannel {
    const existing = this.#channels.get(task.id)
    if (existing) return existing
    const channel = new TaskChannel(task, () => this.#forget(task.id))
    this.#channels.set(task.id, channel)
    return channel
  }

  #forget(id: string): void {
    if (this.#workers.has(id) || this.#channels.get(id)?.listeners) return
    this.#channels.delete(id)
    this.#watchers.get(id)?.abort()
    this.#watchers.delete(id)
  }

  #watch(channel: TaskChannel): void {
    const { store, onError } = this.#options
    const { id } = channel.task
    if (this.#isClosed || this.#watchers.has(id)) return
    const watcher = new AbortController()
    this.#watchers.set(id, watcher)
    const read = () => (this.#workers.has(id) ? Promise.resolve(channel.task) : store.get(id))
    void watch(channel, read, this.times.poll, watcher.signal, onError)
  }

  /**
   * A task without a worker here waits for its caller, or belongs to another process, which reads this change at its
   * heartbeat.
   */
  async #cancelElsewhere(first: StoredTask): Promise<StoredTask> {
    const { store } = this.#options
    for (let task = first; !isTerminal(task.state); ) {
      const cancelled: StoredTask = {
        ...task,
        state: 'TASK_STATE_CANCELED',
        message: null,
        ...this.#endNow(),
      }
      if (await store.save(cancelled, { holder: task.holder, states: unfinishedStates })) {
        this.#announcements?.announce(cancelled)
        return cancelled
      }
      const now = await store.get(task.id)
      if (!now) break
      task = now
    }
    throw refusal('TASK_NOT_CANCELABLE')
  }

  /** A task that the process which died may have stored before its agent began. */
  #workingOn(task: StoredTask): StoredTask {
    return task.state === 'TASK_STATE_WORKING'
      ? task
      : { ...task, state: 'TASK_STATE_WORKING', updated_at: this.#at() }
  }

  /** The end of a task whose process died, and whose work cannot go on. */
  #lost(task: StoredTask): StoredTask {
    const message = fromAgent(task, [{ text: lostWorker }])
    return { ...task, state: 'TASK_STATE_FAILED', message, ...this.#endNow() }
  }

  /** What each end has that is written here. */
  #endNow(): Pick<StoredTask, 'holder' | 'updated_at' | 'expires_at' | 'alive_until'> {
    const { retention, lease } = this.times
    return {
      holder: randomUUID(),
      updated_at: this.#at(),
      expires_at: this.#at(retention),
      alive_until: this.#at(lease),
    }
  }

  #at(after = 0): string {
    return new Date(this.#options.clock() + after).toISOString()
  }
}

/** Ends a task as its work has ended: with a message, or without a word. */
async function completeBy(worker: TaskWorker, message: unknown): Promise<void> {
  if (isRecord(message)) await worker.tell({ state: 'TASK_STATE_COMPLETED', message: message as JsonObject })
  else await worker.end('TASK_STATE_COMPLETED')
}

/** Failures that say nothing of a task that goes on: a later attempt may succeed. */
const passing: ReadonlySet<Code> = new Set<Code>(['rate_limited', 'circuit_open', 'unavailable'])

function mayPass(thrown: unknown): boolean {
  return thrown instanceof Failure && passing.has(thrown.code)
}

/** An anonymous task is visible to every caller who knows its id. */
function isVisible({ owner }: StoredTask, caller: Principal | null): boolean {
  return owner === null || (caller !== null && owner === principalKey(caller))
}
