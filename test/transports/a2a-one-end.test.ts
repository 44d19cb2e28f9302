import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { Failure } from '../../schemas/failure.ts'
import type { StoredTask, TaskStore } from '../../schemas/task.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import type { Store } from '../../src/store/store.ts'
import { createAbandonedTasks } from '../../src/transports/a2a/abandoned.ts'
import { standardTimes, type TaskTimes } from '../../src/transports/a2a/tasks/limits.ts'
import type { PushPort } from '../../src/transports/a2a/tasks/push.ts'
import { TaskManager } from '../../src/transports/a2a/tasks/task-manager.ts'
import type { Tell } from '../../src/transports/a2a/work.ts'
import { collect, gist } from '../support/a2a-server.ts'
import { temporaryFolder } from '../support/command.ts'
import { writeEmptyDatabase } from '../support/empty-database.ts'
import { principal } from '../support/router.ts'
import { transportOver } from '../support/transport-context.ts'

const completed = 'TASK_STATE_COMPLETED'
const ada = principal('ada', ['a2a:call'])
const quick = { poll: 5, heartbeat: 10, shutdown: 1, grace: 0 }
/** A process that is stopped: it renews nothing. */
const frozen = { ...quick, heartbeat: 3_600_000, lease: 1 }
const soon = { timeout: 5000 }

const stack = new AsyncDisposableStack()
let store: Store
beforeAll(async () => {
  const { path } = stack.use(await temporaryFolder())
  const file = join(path, 'registry.sqlite')
  await writeEmptyDatabase(file)
  store = stack.use(await openSqliteStore(file))
})
afterAll(() => stack.disposeAsync())

/** The store of tasks, which can be away. */
function breakable() {
  let isAway = false
  const unlessAway =
    <Inputs extends unknown[], Result>(work: (...inputs: Inputs) => Promise<Result>) =>
    async (...inputs: Inputs): Promise<Result> => {
      if (isAway) throw new Failure('unavailable', 'The store does not answer.')
      return await work(...inputs)
    }
  const { get, save, push } = store.tasks
  const tasks: TaskStore = {
    ...store.tasks,
    get: unlessAway(get),
    save: unlessAway(save),
    push: unlessAway(push),
  }
  return {
    tasks,
    set isAway(value: boolean) {
      isAway = value
    },
  }
}

interface Posts {
  readonly port: PushPort
  readonly received: { readonly id: string; readonly body: string }[]
}

/** Takes notifications; `answer` decides what becomes of each. */
function receiver(answer: (body: string) => 'done' | 'failed' | Promise<never> = () => 'done'): Posts {
  const received: Posts['received'] = []
  return {
    received,
    port: {
      check: () => {},
      seal: (secret) => secret,
      open: (sealed) => sealed,
      isRevoked: () => false,
      wait: (_, signal) => pause(1, undefined, { signal }),
      async post({ id, body }) {
        received.push({ id, body })
        return await answer(body)
      },
    },
  }
}

const ends = ({ received }: Posts) => received.filter(({ body }) => body.includes(completed))

function process(
  times: Partial<TaskTimes>,
  tasks: TaskStore = store.tasks,
  push: PushPort = receiver().port,
): TaskManager {
  return new TaskManager({ store: tasks, clock: Date.now, onError: () => {}, times, push })
}

/** A task that works until the test ends it. */
async function begin(manager: TaskManager, url?: string) {
  const over = Promise.withResolvers<void>()
  let tell: Tell = async () => {}
  let signal = new AbortController().signal
  const begun = await manager.begin({
    async run(call, update) {
      tell = update
      signal = call.signal
      signal.addEventListener('abort', () => over.resolve())
      await tell({ state: 'TASK_STATE_WORKING' })
      await over.promise
    },
    call: { principal: ada, signal, client: 'local' },
    message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'go' }] },
    context_id: 'c',
    explain: () => [],
    ...(url !== undefined && { push: { url } }),
  })
  if ('message' in begun) throw new Error('no task')
  return {
    id: begun.task.id,
    begun,
    tell: (update: Parameters<Tell>[0]) => tell(update),
    signal: () => signal,
  }
}

const stored = async (id: string) => (await store.tasks.get(id)) as StoredTask

describe('a task has one end', () => {
  test('which nobody hears of before it is stored, however long the database is away', async () => {
    const database = breakable()
    await using manager = process(quick, database.tasks)
    const { id, begun, tell } = await begin(manager)
    const events = collect(begun.events)
    database.isAway = true
    const ending = tell({ state: completed })
    let isTold = false
    void begun.ended.then(() => {
      isTold = true
    })
    await pause(50)
    expect([isTold, (await stored(id)).state]).not.toContain(completed)
    expect(isTold).toBe(false)
    database.isAway = false
    await ending
    expect((await begun.ended).state).toBe(completed)
    expect((await events).map(gist)).toEqual(['task submitted', 'working', 'completed'])
  })

  test('although the answer to the write of it was lost', async () => {
    let isLost = true
    const tasks: TaskStore = {
      ...store.tasks,
      async save(task, expected) {
        const isSaved = await store.tasks.save(task, expected)
        if (task.state !== completed || !isLost) return isSaved
        isLost = false
        throw new Failure('unavailable', 'The connection was lost.')
      },
    }
    await using manager = process(quick, tasks)
    const { begun, tell } = await begin(manager)
    const events = collect(begun.events)
    await tell({ state: completed })
    expect((await events).map(gist)).toEqual(['task submitted', 'working', 'completed'])
  })

  test('and a process that wakes up writes nothing over that of the one that took it over', async () => {
    await using sleeper = process(frozen)
    await using other = process(quick)
    const { id, begun, tell } = await begin(sleeper)
    const events = collect(begun.events)
    await expect.poll(() => store.tasks.lapsed(10), soon).toHaveLength(1)
    await other.takeOver(await stored(id))
    expect((await stored(id)).state).toBe('TASK_STATE_FAILED')
    await tell({ state: completed })
    expect((await stored(id)).state).toBe('TASK_STATE_FAILED')
    expect((await events).map(gist)).toEqual(['task submitted', 'working', 'failed'])
  })

  test('which listeners of a process that lost it hear from the one that goes on', async () => {
    await using sleeper = process(frozen)
    await using other = process(quick)
    const { id, begun, tell, signal } = await begin(sleeper)
    const events = collect(begun.events)
    await expect.poll(() => store.tasks.lapsed(10), soon).toHaveLength(1)
    const end = Promise.withResolvers<void>()
    const run = async (_: unknown, taken: Tell) => {
      await end.promise
      await taken({ state: completed, parts: [{ text: 'by the other' }] })
    }
    const call = { principal: ada, signal: new AbortController().signal, client: 'local' as const }
    await other.takeOver(await stored(id), { run, call, explain: () => [] })
    await tell({ state: completed, parts: [{ text: 'too late' }] })
    expect((await stored(id)).state).toBe('TASK_STATE_WORKING')
    // Its agent must not cancel what goes on elsewhere.
    expect(signal().reason).toMatchObject({ message: 'The gateway stopped.' })
    end.resolve()
    const all = await events
    expect(all.map(gist)).toEqual(['task submitted', 'working', 'completed'])
    const message = { parts: [{ text: 'by the other' }] }
    expect(all.at(-1)).toMatchObject({ statusUpdate: { status: { message } } })
  })

  test('that of its own process, where two processes want a task whose lease was renewed in time', async () => {
    await using manager = process(quick)
    await using other = process(quick)
    const { id, tell } = await begin(manager)
    const early = { ...(await stored(id)), alive_until: new Date(0).toISOString() }
    await other.takeOver(early)
    await tell({ state: completed })
    expect((await stored(id)).state).toBe(completed)
  })

  test('that the database hears of when it comes back: listeners elsewhere wait for it', async () => {
    const database = breakable()
    await using manager = process(quick)
    await using other = process(quick, database.tasks)
    const { id, tell } = await begin(manager)
    const events = collect(await other.subscribe(id, ada))
    database.isAway = true
    await tell({ state: completed })
    await pause(30)
    database.isAway = false
    expect((await events).map(gist).at(-1)).toBe('completed')
  })
})

describe('the end of a task is posted', () => {
  const url = 'https://example.com/hook'

  test('once, and then there is nothing left to do', async () => {
    const posts = receiver()
    await using manager = process(quick, store.tasks, posts.port)
    const { id, tell } = await begin(manager, url)
    await tell({ state: completed })
    await expect.poll(async () => (await stored(id)).alive_until, soon).toBeNull()
    expect(ends(posts)).toHaveLength(1)
  })

  test('by another process, with the same id, if the one that stored it dies before it is taken', async () => {
    const hangs = (body: string) => (body.includes(completed) ? new Promise<never>(() => {}) : 'done')
    const [dying, posts, database] = [receiver(hangs), receiver(), breakable()]
    const dead = process({ ...quick, lease: 40 }, database.tasks, dying.port)
    await using other = process(quick, store.tasks, posts.port)
    const { id, tell } = await begin(dead, url)
    await tell({ state: completed })
    await expect.poll(() => ends(dying).length, soon).toBe(1)
    database.isAway = true
    const job = createAbandonedTasks({ ...transportOver([]), taskManager: other, store })
    await expect.poll(() => job.isDue(), soon).toBe(true)
    await job.run(new AbortController().signal)
    await expect.poll(async () => (await stored(id)).alive_until, soon).toBeNull()
    expect(ends(posts)).toEqual(ends(dying))
    expect(await job.isDue()).toBe(false)
  })

  test('by another process if the gateway stops between two tries', async () => {
    const [failing, posts] = [receiver(() => 'failed'), receiver()]
    const waiting = {
      ...failing.port,
      wait: (_: number, signal: AbortSignal) => pause(60_000, undefined, { signal }),
    }
    const stopping = process(quick, store.tasks, waiting)
    await using other = process(quick, store.tasks, posts.port)
    const { id, tell } = await begin(stopping, url)
    await expect.poll(() => failing.received.length, soon).toBe(1)
    await tell({ state: completed })
    await stopping[Symbol.asyncDispose]()
    expect(await store.tasks.lapsed(10)).toMatchObject([{ id, holder: '' }])
    await other.takeOver(await stored(id))
    await expect.poll(async () => (await stored(id)).alive_until, soon).toBeNull()
    const [first] = ends(posts)
    expect(ends(posts)).toHaveLength(1)
    expect(first?.id).toMatch(/^msg_/)
  })
})

test('a gateway that stops while the database hangs leaves a task to its agent at once', async () => {
  const tasks: TaskStore = { ...store.tasks, save: () => new Promise(() => {}) }
  const manager = process(quick, tasks)
  const { tell, signal } = await begin(manager)
  const origin = { agent: 'com.example.a', task_id: 't', followed: true } as const
  await tell({ state: 'TASK_STATE_WORKING', parts: [{ text: 'busy' }], origin })
  void manager[Symbol.asyncDispose]()
  await expect.poll(() => signal().reason, soon).toMatchObject({ message: 'The gateway stopped.' })
})

test('a task whose agent cannot be asked now is left for a while, and to any process', async () => {
  await using sleeper = process(frozen)
  await using other = process({ ...quick, lease: 60_000 })
  const { id } = await begin(sleeper)
  await expect.poll(async () => (await store.tasks.lapsed(10)).map((task) => task.id), soon).toContain(id)
  const run = async () => {
    throw new Failure('circuit_open', 'The agent is not called now.')
  }
  const call = { principal: ada, signal: new AbortController().signal, client: 'local' as const }
  await other.takeOver(await stored(id), { run, call, explain: () => [] })
  await expect.poll(async () => (await stored(id)).holder, soon).toBe('')
  expect((await stored(id)).state).toBe('TASK_STATE_WORKING')
  expect((await store.tasks.lapsed(10)).map((task) => task.id)).not.toContain(id)
})

test('a task that cannot be taken over does not keep the others', async () => {
  await using sleeper = process(frozen)
  await using other = process(quick)
  const ids = [(await begin(sleeper)).id, (await begin(sleeper)).id]
  const lapsed = async () => (await store.tasks.lapsed(10)).map((task) => task.id)
  await expect.poll(lapsed, soon).toEqual(expect.arrayContaining(ids))
  const faults: unknown[] = []
  const fault = new Error('It cannot be read.')
  vi.spyOn(other, 'takeOver').mockRejectedValueOnce(fault)
  const context = { ...transportOver([]), onError: (thrown: unknown) => faults.push(thrown) }
  await createAbandonedTasks({ ...context, taskManager: other, store }).run(new AbortController().signal)
  expect(faults).toEqual([fault])
  expect((await lapsed()).filter((id) => ids.includes(id))).toHaveLength(1)
})

test('a task that works for longer than finished ones are kept is left to other processes with all of that time', async () => {
  let now = Date.now()
  const manager = new TaskManager({ store: store.tasks, clock: () => now, onError: () => {}, times: quick })
  const { id, tell } = await begin(manager)
  const origin = { agent: 'com.example.a', task_id: 't', followed: true } as const
  await tell({ state: 'TASK_STATE_WORKING', parts: [{ text: 'busy' }], origin })
  const { expires_at } = await stored(id)
  now += standardTimes.retention
  await manager[Symbol.asyncDispose]()
  expect(Date.parse((await stored(id)).expires_at)).toBe(Date.parse(expires_at) + standardTimes.retention)
})
