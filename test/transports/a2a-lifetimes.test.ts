import { once } from 'node:events'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { createAbandonedTasks } from '../../src/transports/a2a/abandoned.ts'
import { a2aVersion, message } from '../support/a2a.ts'
import { collect, gist, reasonOf } from '../support/a2a-server.ts'
import { openSession, type Session } from '../support/a2a-session.ts'
import { startGateway } from '../support/gateway.ts'

const quick = { times: { poll: 10, heartbeat: 20 } }
const hour = 3_600_000
const megabytes = 1024 * 1024
const completed = 'TASK_STATE_COMPLETED'

async function finish(session: Session, text: string, token?: string): Promise<string> {
  const { id } = await session.begin(text, token)
  await (await session.work(text)).end(completed)
  return id
}

/** Polls until the work of a task is visible. */
async function until<T>(read: () => Promise<T>, is: (seen: T) => boolean): Promise<T> {
  for (;;) {
    const seen = await read()
    if (is(seen)) return seen
  }
}

describe('a task', () => {
  test('is forgotten an hour after its last change, and its row soon after', async () => {
    let now = Date.parse('2026-11-01T00:00:00Z')
    await using session = await openSession({ clock: () => now, tasks: quick })
    const ada = await session.home.token('ada', { ttl_s: 24 * 3600 })
    const id = await finish(session, 'old', ada)
    now += hour - 1
    expect((await session.ask('GET', `tasks/${id}`, ada)).status).toBe(200)
    now += 1
    for (const path of [`tasks/${id}`, `tasks/${id}:subscribe`]) {
      expect(reasonOf(await session.ask('GET', path, ada))).toBe('TASK_NOT_FOUND')
    }
    expect((await session.ask('GET', 'tasks', ada)).json.totalSize).toBe(0)
    expect(rows(session)).toBe(1)
    await finish(session, 'new', ada)
    expect(rows(session)).toBe(1)
  })

  test('fails when its process has ended, in lists too, and cannot be cancelled', async () => {
    let now = Date.parse('2026-11-01T00:00:00Z')
    const clock = () => now
    await using session = await openSession({ clock, tasks: { times: { heartbeat: hour } } })
    const ada = await session.home.token('ada', { ttl_s: 24 * 3600 })
    const { id } = await session.begin('abandoned', ada)
    const { signal } = await session.work('abandoned')
    const at = { DRAGOMAN_DATA: session.home.data }
    await using other = await openSession({ clock, tasks: { times: { poll: 10, grace: 0 } } }, at)
    const job = createAbandonedTasks(other.home.gateway)
    expect((await other.ask('GET', `tasks/${id}`, ada)).json.status.state).toBe('TASK_STATE_SUBMITTED')
    const listening = await other.open('GET', `tasks/${id}:subscribe`, ada)
    expect(await job.isDue()).toBe(false)
    now += 60_000
    // No read and no look settles it.
    expect(await job.isDue()).toBe(true)
    expect((await other.ask('GET', `tasks/${id}`, ada)).json.status.state).toBe('TASK_STATE_SUBMITTED')
    await job.run(new AbortController().signal)
    expect(await job.isDue()).toBe(false)
    expect((await collect(listening)).map(gist)).toEqual(['task submitted', 'failed'])
    const { json } = await other.ask('GET', `tasks/${id}`, ada)
    expect(json.status).toMatchObject({
      state: 'TASK_STATE_FAILED',
      timestamp: '2026-11-01T00:01:00.000Z',
      message: { parts: [{ text: 'The process that worked on the task ended.' }] },
    })
    expect((await other.ask('GET', 'tasks?status=TASK_STATE_FAILED', ada)).json.tasks).toMatchObject([{ id }])
    expect(reasonOf(await other.ask('POST', `tasks/${id}:cancel`, ada))).toBe('TASK_NOT_CANCELABLE')
    expect(signal.aborted).toBe(false)
  })

  test('whose lease is seen to be over is not taken over at once: after an outage its process renews it', async () => {
    await using session = await openSession({ tasks: { times: { lease: 1, heartbeat: hour } } })
    const ada = await session.home.token('ada')
    const { id } = await session.begin('late', ada)
    await using other = await openSession({ tasks: quick }, { DRAGOMAN_DATA: session.home.data })
    const job = createAbandonedTasks(other.home.gateway)
    await expect.poll(() => job.isDue()).toBe(true)
    for (let look = 0; look < 3; look++) await job.run(new AbortController().signal)
    expect((await other.ask('GET', `tasks/${id}`, ada)).json.status.state).toBe('TASK_STATE_SUBMITTED')
    const { end } = await session.work('late')
    await end(completed)
    expect((await other.ask('GET', `tasks/${id}`, ada)).json.status.state).toBe(completed)
    expect(await job.isDue()).toBe(false)
  })

  test('that another process works on is watched and cancelled from here', async () => {
    await using session = await openSession({ tasks: quick })
    const ada = await session.home.token('ada')
    await using other = await openSession({ tasks: quick }, { DRAGOMAN_DATA: session.home.data })
    const { id } = await session.begin('far', ada)
    const { tell, signal } = await session.work('far')
    const listening = await other.open('GET', `tasks/${id}:subscribe`, ada)
    const near = await session.open('GET', `tasks/${id}:subscribe`, ada)
    await tell({ artifact: { artifactId: 'a', parts: [{ text: 'x' }] } })
    const show = async () => (await other.ask('GET', `tasks/${id}`, ada)).json
    await until(show, ({ artifacts }) => artifacts.length === 1)
    const { json } = await other.ask('POST', `tasks/${id}:cancel`, ada)
    expect(json.status.state).toBe('TASK_STATE_CANCELED')
    if (!signal.aborted) await once(signal, 'abort')
    const [first, ...rest] = (await collect(listening)).map(gist)
    expect(first).toMatch(/^task /)
    expect(rest.at(-1)).toBe('canceled')
    expect((await collect(near)).map(gist).at(-1)).toBe('canceled')
  })

  test('ends in its streams before they close when the gateway stops', async () => {
    const session = await openSession({ tasks: { times: { shutdown: 10 } } })
    const events = await session.open('POST', 'message:stream', undefined, message([{ text: 'cut' }]))
    await session.work('cut')
    const all = collect(events)
    await session.home.gateway.taskManager[Symbol.asyncDispose]()
    expect((await all).map(gist)).toEqual(['task submitted', 'working', 'failed'])
    await session[Symbol.asyncDispose]()
  })
})

describe('of tasks there are', () => {
  const limit = { unfinished: 2, total: 3, characters: 64 * megabytes }
  const all = { unfinished: 3, total: 5, characters: 64 * megabytes }

  test('at most a few unfinished ones of one caller and in all; the refusal says what to do', async () => {
    await using session = await openSession({
      tasks: { ...quick, limits: { owner: limit, address: limit, all } },
    })
    const [ada, bob] = [await session.home.token('ada'), await session.home.token('bob')]
    const begin = (text: string, token?: string) =>
      session.ask('POST', 'message:send', token, {
        ...message([{ text }]),
        configuration: { returnImmediately: true },
      })
    await begin('a1', ada)
    await begin('a2', ada)
    const third = await begin('a3', ada)
    expect([third.status, reasonOf(third), third.headers.get('retry-after')]).toEqual([
      429,
      'RATE_LIMITED',
      '5',
    ])
    expect(third.json.error.details.at(-1).value.hint).toContain('cancel it')
    const stream = await session.ask('POST', 'message:stream', ada, message([{ text: 'a4' }]))
    expect([stream.status, stream.headers.get('content-type')]).toEqual([429, 'application/a2a+json'])
    expect((await begin('b1', bob)).status).toBe(200)
    const full = await begin('b2', bob)
    expect([full.status, reasonOf(full)]).toEqual([503, 'UNAVAILABLE'])
    await (await session.work('a1')).end(completed)
    expect((await begin('b2', bob)).status).toBe(200)
  })

  test('at most a few stored: the oldest finished one of the caller is deleted first', async () => {
    const limits = { owner: limit, address: limit, all }
    await using session = await openSession({ tasks: { ...quick, limits } })
    const ada = await session.home.token('ada')
    const ids: string[] = []
    for (const text of ['1', '2', '3', '4']) ids.push(await finish(session, text, ada))
    const states = await Promise.all(
      ids.map(async (id) => (await session.ask('GET', `tasks/${id}`, ada)).status),
    )
    expect(states).toEqual([404, 200, 200, 200])
  })

  test('no more rows than the limit after hundreds of finished ones, and no listeners', async () => {
    const limit = { unfinished: 10, total: 100, characters: 64 * megabytes }
    const limits = { owner: limit, address: limit, all: { ...limit, total: 150 } }
    await using session = await openSession({ tasks: { ...quick, limits } })
    const { taskManager } = session.home.gateway
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] } as const
    for (let index = 0; index < 400; index++) {
      const call = {
        principal: null,
        signal: new AbortController().signal,
        client: { address: `10.0.0.${index % 3}`, via: [] },
      }
      const run = async (_: unknown, tell: (update: { state: typeof completed }) => Promise<void>) =>
        await tell({ state: completed })
      const begun = await taskManager.begin({ run, call, message, context_id: 'c', explain: () => [] })
      if ('message' in begun) throw new Error('no task')
      begun.events.leave()
      await begun.ended
    }
    expect(rows(session)).toBeLessThanOrEqual(150)
    expect(taskManager.size).toBe(0)
  }, 60_000)
})

test('operations on tasks count against the caller’s limit, like other reads', async () => {
  const clock = () => Date.parse('2026-11-01T00:00:00Z')
  await using home = await startGateway({ DRAGOMAN_RATE_LIMIT: 'on' }, { clock })
  const asking = Array.from({ length: 601 }, () =>
    home.request('GET', '/a2a/v1/tasks/t', { headers: a2aVersion }),
  )
  const statuses = (await Promise.all(asking)).map(({ status }) => status)
  expect(statuses.filter((status) => status === 404)).toHaveLength(600)
  expect(statuses.filter((status) => status === 429)).toHaveLength(1)
})

/** How many rows there are, expired or not. */
function rows({ home }: Session): number {
  using database = new DatabaseSync(join(home.data, 'registry.sqlite'), { readOnly: true })
  return Number(database.prepare('select count(*) as count from task').get()?.count)
}
