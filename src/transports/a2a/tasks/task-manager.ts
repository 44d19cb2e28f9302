import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from '../../../../schemas/failure.ts'
import type { Principal } from '../../../../schemas/scope.ts'
import {
  interruptedStates,
  isInterrupted,
  isTerminal,
  type Message,
  type Part,
  type StoredTask,
  type TaskStore,
} from '../../../../schemas/task.ts'
import { principalKey } from '../../../common/principal-key.ts'
import type { Call } from '../../../router/router.ts'
import { refusal } from '../protocol/error.ts'
import type { Job, Tell } from '../work.ts'
import { type Channel, createChannel, watch } from './channel.ts'
import type { Outlet } from './event-queue.ts'
import { type Bounds, type Spans, standardBounds, standardSpans } from './limits.ts'
import { type StreamEvent, statusEvent } from './view.ts'
import { startWorker, type Worker } from './worker.ts'

export interface TaskManagerOptions {
  readonly store: TaskStore
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  readonly onError: (fault: unknown) => void
  /** Counts what is asked of tasks against its caller's limit. Throws Failure `rate_limited`. */
  readonly count?: (call: Call) => unknown
  readonly bounds?: Bounds
  readonly spans?: Partial<Spans>
}

/** What work begins with. */
export interface Begin {
  readonly run: NonNullable<Job['run']>
  readonly call: Call
  readonly message: Message
  readonly context_id: string
  /** The interrupted task that it goes on with. */
  readonly task?: StoredTask | undefined
  /** How it failed, in parts of a message. */
  readonly explain: (thrown: unknown) => readonly Part[]
}

export interface Begun {
  readonly task: StoredTask
  /** From the task as it began on. */
  readonly events: Outlet<StreamEvent>
  /** As it was left: over or interrupted. */
  readonly ended: Promise<StoredTask>
}

/** The tasks of A2A: begun and worked on here, kept in the store. */
export interface TaskManager extends AsyncDisposable {
  /** Resolves once there is a task. Throws what was thrown before there was one. */
  begin(begin: Begin): Promise<Begun>
  /** Throws Refusal TASK_NOT_FOUND, to whoever may not see it as well. */
  get(id: string, caller: Principal | null): Promise<StoredTask>
  /** Throws Refusal TASK_NOT_CANCELABLE too. */
  cancel(id: string, caller: Principal | null): Promise<StoredTask>
  /** Throws Refusal UNSUPPORTED_OPERATION too, where it is over. */
  subscribe(id: string, caller: Principal | null): Promise<Outlet<StreamEvent>>
  readonly list: TaskStore['list']
  readonly count: (call: Call) => unknown
  /** How many this process holds in memory: those that it works on, or that somebody listens to. */
  readonly size: () => number
}

const mostMessages = 100
const mostListeners = 32

export function createTaskManager(options: TaskManagerOptions): TaskManager {
  const { store, clock, onError, count = () => {}, bounds = standardBounds } = options
  const spans = { ...standardSpans, ...options.spans }
  const channels = new Map<string, Channel>()
  const workers = new Map<string, Worker>()
  const watchers = new Map<string, AbortController>()
  let isClosed = false

  const at = (after = 0) => new Date(clock() + after).toISOString()

  /** Whatever this process knows of a task it knows in one place. */
  function channelOf(task: StoredTask): Channel {
    const known = channels.get(task.id)
    if (known) return known
    const channel = createChannel(task, () => forget(task.id))
    channels.set(task.id, channel)
    return channel
  }

  function forget(id: string): void {
    if (workers.has(id) || channels.get(id)?.listeners()) return
    channels.delete(id)
    watchers.get(id)?.abort()
    watchers.delete(id)
  }

  async function write({ task: before, message, context_id, call }: Begin): Promise<StoredTask> {
    const id = before?.id ?? randomBytes(16).toString('hex')
    const { principal, client } = call
    const owner = principal && principalKey(principal)
    const asked = { ...message, contextId: context_id, taskId: id }
    const task: StoredTask = {
      ...(before ?? {
        id,
        owner,
        counted_by: owner ?? client?.address ?? 'local',
        context_id,
        artifacts: [],
      }),
      state: 'TASK_STATE_SUBMITTED',
      message: null,
      history: [...(before?.history ?? []), asked].slice(-mostMessages),
      updated_at: at(),
      expires_at: at(spans.keep),
      alive_until: at(spans.believe),
    }
    if (before) {
      if (await store.save(task, [before.state])) return task
      throw refusal('UNSUPPORTED_OPERATION', 'Another message has been taken for the task meanwhile.')
    }
    const verdict = await store.add(task, owner ? bounds.owner : bounds.address, bounds.all)
    if (verdict !== 'added') throw crowded(verdict)
    return task
  }

  async function open(begin: Begin, abort: AbortController): Promise<{ worker: Worker; begun: Begun }> {
    const task = await write(begin)
    const channel = channelOf(task)
    channel.publish(task, begin.task ? [statusEvent(task)] : [])
    const events = channel.follow()
    const worker = startWorker({
      channel,
      save: store.save,
      read: () => store.get(task.id),
      clock,
      spans,
      abort: (reason) => abort.abort(reason),
      onError,
    })
    workers.set(task.id, worker)
    void worker.ended.then(() => {
      workers.delete(task.id)
      forget(task.id)
    })
    return { worker, begun: { task, events, ended: worker.ended } }
  }

  async function begin(asked: Begin): Promise<Begun> {
    if (isClosed) throw new Failure('unavailable', 'The gateway is about to stop.')
    const abort = new AbortController()
    const { promise, resolve, reject } = Promise.withResolvers<Begun>()
    let opened: ReturnType<typeof open> | undefined
    const tell: Tell = async (told) => {
      opened ??= open(asked, abort)
      const { worker, begun } = await opened
      resolve(begun)
      await worker.tell(told)
    }
    const call = { ...asked.call, signal: abort.signal }
    asked
      .run(call, tell)
      .then(
        async () => {
          if (!opened) return reject(new Error('The work told nothing.'))
          await (await opened).worker.end('TASK_STATE_COMPLETED')
        },
        async (thrown) => {
          const there = await opened?.catch(() => undefined)
          if (!there) return reject(thrown)
          await there.worker.end('TASK_STATE_FAILED', asked.explain(thrown))
        },
      )
      .catch(onError)
    return await promise
  }

  async function get(id: string, caller: Principal | null): Promise<StoredTask> {
    const task = workers.has(id) ? channels.get(id)?.task() : await store.get(id)
    if (!task || !isSeenBy(task, caller)) throw refusal('TASK_NOT_FOUND')
    return task
  }

  return {
    begin,
    get,
    list: store.list,
    count,
    size: () => channels.size,
    async cancel(id, caller) {
      const task = await get(id, caller)
      if (isTerminal(task.state)) throw refusal('TASK_NOT_CANCELABLE')
      const over = await (workers.get(id)?.end('TASK_STATE_CANCELED') ?? cancelElsewhere(task))
      if (over.state !== 'TASK_STATE_CANCELED') throw refusal('TASK_NOT_CANCELABLE')
      return over
    },
    async subscribe(id, caller) {
      const task = await get(id, caller)
      if (isTerminal(task.state)) {
        throw refusal('UNSUPPORTED_OPERATION', 'The task is over; GetTask says how it ended.')
      }
      const channel = channelOf(task)
      if (channel.listeners() >= mostListeners) {
        throw new Failure('rate_limited', `${mostListeners} streams listen to this task already.`, {
          hint: 'Close one, or ask for the task again and again.',
          retry_after_s: 5,
        })
      }
      const outlet = channel.follow()
      if (!workers.has(id) && !watchers.has(id)) look(channel)
      return outlet
    },
    async [Symbol.asyncDispose]() {
      isClosed = true
      const ends = [...workers.values()].map(({ ended }) => ended)
      await Promise.race([Promise.all(ends), pause(spans.stop, undefined, { ref: false })])
      const stopped = [{ text: 'The gateway stopped.' }]
      await Promise.all([...workers.values()].map((worker) => worker.end('TASK_STATE_FAILED', stopped)))
      for (const channel of channels.values()) channel.end()
      for (const watcher of watchers.values()) watcher.abort()
    },
  }

  function look(channel: Channel): void {
    const { id } = channel.task()
    const watcher = new AbortController()
    watchers.set(id, watcher)
    const read = async () => (workers.has(id) ? channel.task() : await store.get(id))
    void watch(channel, read, spans.look, watcher.signal).catch((fault) => {
      onError(fault)
      channel.end()
    })
  }

  /** What nobody works on here: it waits for its caller, or is another process's, which sees it at its next beat. */
  async function cancelElsewhere(task: StoredTask): Promise<StoredTask> {
    const cancelled: StoredTask = {
      ...task,
      state: 'TASK_STATE_CANCELED',
      message: null,
      updated_at: at(),
      expires_at: at(spans.keep),
      alive_until: null,
    }
    const from = ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', ...interruptedStates] as const
    return (await store.save(cancelled, from)) ? cancelled : ((await store.get(task.id)) ?? task)
  }
}

function isSeenBy({ owner }: StoredTask, caller: Principal | null): boolean {
  return owner === null || (caller !== null && owner === principalKey(caller))
}

function crowded(verdict: 'busy' | 'full'): Failure {
  const hint = 'Wait for one to end or cancel it, or ask without returnImmediately: that makes no task.'
  return verdict === 'busy'
    ? new Failure('rate_limited', 'You have too many tasks that are not over.', { hint, retry_after_s: 5 })
    : new Failure('unavailable', 'There is no room for another task.', { hint, retry_after_s: 30 })
}

/** Throws Refusal where the task takes no message, and Failure where the message names another context. */
export function assertTakesMessage(task: StoredTask, context_id: string | null | undefined): void {
  if (context_id && context_id !== task.context_id) {
    const detail = 'The task belongs to another context; leave contextId out.'
    throw new Failure('invalid_request', detail, { errors: [{ pointer: '/message/contextId', detail }] })
  }
  if (isInterrupted(task.state)) return
  const why = isTerminal(task.state) ? 'is over' : 'is being worked on'
  throw refusal('UNSUPPORTED_OPERATION', `The task ${why} and takes no message; send one without taskId.`)
}
