import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { message } from '../support/a2a.ts'
import { collect, type Event, gist, reasonOf } from '../support/a2a-server.ts'
import { openSession } from '../support/a2a-session.ts'
import { everyScope } from '../support/gateway.ts'

const session = await openSession({ tasks: { times: { poll: 10, heartbeat: 20 } } })
const ada = await session.home.token('ada')
afterAll(() => session[Symbol.asyncDispose]())

const text = (words: string) => ({ ...message([{ text: words }]) })
const input = 'TASK_STATE_INPUT_REQUIRED'
const completed = 'TASK_STATE_COMPLETED'

describe('a task', () => {
  test('is returned immediately, shows its state on each read, and its artifacts at the end', async () => {
    const task = await session.begin('first', ada, { contextId: 'ours' })
    expect(task).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      contextId: 'ours',
      status: { state: 'TASK_STATE_SUBMITTED', timestamp: expect.any(String) },
      history: [{ messageId: 'm-1', role: 'ROLE_USER', contextId: 'ours', taskId: task.id }],
    })
    const { tell, end } = await session.work('first')
    const working = await session.ask('GET', `tasks/${task.id}`, ada)
    expect(working.json.status.state).toBe('TASK_STATE_WORKING')
    await tell({ artifact: { artifactId: 'a', parts: [{ text: 'one ' }] } })
    await tell({ artifact: { artifactId: 'a', parts: [{ text: 'two' }] }, append: true, last: true })
    await end(completed, [{ text: 'There.' }])
    const { json } = await session.ask('GET', `tasks/${task.id}?historyLength=0`, ada)
    expect(json).toMatchObject({
      status: {
        state: completed,
        message: { role: 'ROLE_AGENT', parts: [{ text: 'There.' }], taskId: task.id },
      },
      artifacts: [{ artifactId: 'a', parts: [{ text: 'one ' }, { text: 'two' }] }],
    })
    expect(json).not.toHaveProperty('history')
  })

  test('streams itself, what becomes of it, and its end', async () => {
    const events = await session.open('POST', 'message:stream', ada, text('streamed'))
    const { tell, end } = await session.work('streamed')
    await tell({ state: 'TASK_STATE_WORKING', parts: [{ text: 'half' }] })
    await tell({ artifact: { artifactId: 'a', parts: [{ data: 1 }] }, last: true })
    await end(completed)
    const all = await collect(events)
    expect(all.map(gist)).toEqual(['task submitted', 'working', 'working', 'artifact a', 'completed'])
    expect(all[2].statusUpdate.status.message.parts).toEqual([{ text: 'half' }])
    expect(all[3].artifactUpdate).toMatchObject({ append: false, lastChunk: true })
  })

  test('sends all listeners the same events in the same order, whichever of them leaves', async () => {
    const task = await session.begin('shared')
    const { tell, end } = await session.work('shared')
    const leave = new AbortController()
    const path = `tasks/${task.id}:subscribe`
    const [firstRead, other, leaving] = await Promise.all([
      session.open('GET', path),
      session.open('POST', path),
      session.open('GET', path, undefined, undefined, leave.signal),
    ])
    expect(gist((await leaving.next()).value)).toBe('task working')
    leave.abort()
    for (let index = 0; index < 20; index++) {
      await tell({ artifact: { artifactId: `a${index}`, parts: [{ data: index }] } })
    }
    await end(completed)
    const [first, second] = await Promise.all([collect(firstRead), collect(other)])
    expect(first).toHaveLength(22)
    expect(second).toEqual(first)
  })

  test('goes on when the caller of its stream leaves', async () => {
    const leave = new AbortController()
    const events = await session.open('POST', 'message:stream', ada, text('left'), leave.signal)
    const { task } = (await events.next()).value
    const { signal, end } = await session.work('left')
    leave.abort()
    await events.next().catch(() => {})
    expect(signal.aborted).toBe(false)
    await end(completed)
    const { json } = await session.ask('GET', `tasks/${task.id}`, ada)
    expect(json.status.state).toBe(completed)
  })

  test('is cancelled once, and its worker is aborted', async () => {
    const task = await session.begin('cancelled', ada)
    const { signal, tell } = await session.work('cancelled')
    const listening = await session.open('GET', `tasks/${task.id}:subscribe`, ada)
    const { json } = await session.ask('POST', `tasks/${task.id}:cancel`, ada)
    expect([json.id, json.status.state]).toEqual([task.id, 'TASK_STATE_CANCELED'])
    expect(signal.aborted).toBe(true)
    await expect(tell({ state: completed })).rejects.toThrow('over')
    expect((await collect(listening)).map(gist)).toEqual(['task working', 'canceled'])
    const again = await session.ask('POST', `tasks/${task.id}:cancel`, ada)
    expect([again.status, reasonOf(again)]).toEqual([400, 'TASK_NOT_CANCELABLE'])
  })

  test('reports why it failed, like an error', async () => {
    const task = await session.begin('broken', ada)
    const { tell } = await session.work('broken')
    const huge = { artifact: { artifactId: 'a', parts: [{ text: 'x'.repeat(3_000_000) }] } }
    await expect(tell(huge)).rejects.toMatchObject({ code: 'too_large' })
    await session.ask('POST', `tasks/${task.id}:cancel`, ada)
  })
})

describe('a task that waits for its caller', () => {
  test('ends its streams when interrupted, is continued by a message, and ends its listeners when it ends', async () => {
    const events = await session.open('POST', 'message:stream', ada, text('asking'))
    await (await session.work('asking')).end(input, [{ text: 'Where?' }])
    const all = await collect(events)
    expect(all.map(gist)).toEqual(['task submitted', 'working', 'input_required'])
    const { id, contextId } = all[0].task
    const listening = await session.open('GET', `tasks/${id}:subscribe`, ada)
    expect(gist((await listening.next()).value)).toBe('task input_required')
    const more = await session.begin('more', ada, { taskId: id })
    // Both messages, and the question between them.
    expect([more.id, more.contextId, more.history.length]).toEqual([id, contextId, 3])
    await (await session.work('more')).end(completed)
    expect((await collect(listening)).map(gist)).toEqual(['submitted', 'working', 'completed'])
  })

  test('takes no message of another context, nor one that is late, nor one when it is over', async () => {
    const { id } = await session.begin('picky', ada)
    const send = (extra: object) =>
      session.ask('POST', 'message:send', ada, message([{ text: 'picky 2' }], extra))
    const { end } = await session.work('picky')
    expect(reasonOf(await send({ taskId: id }))).toBe('UNSUPPORTED_OPERATION')
    await end(input)
    const mismatch = await send({ taskId: id, contextId: 'another' })
    expect(reasonOf(mismatch)).toBe('INVALID_REQUEST')
    expect(mismatch.json.error.details[1].fieldViolations[0].field).toBe('/message/contextId')
    const { json } = await session.ask('POST', `tasks/${id}:cancel`, ada)
    expect(json.status.state).toBe('TASK_STATE_CANCELED')
    expect(reasonOf(await send({ taskId: id }))).toBe('UNSUPPORTED_OPERATION')
    const late = await session.ask('GET', `tasks/${id}:subscribe`, ada)
    expect([late.headers.get('content-type'), reasonOf(late)]).toEqual([
      'application/a2a+json',
      'UNSUPPORTED_OPERATION',
    ])
  })
})

describe('ownership of tasks', () => {
  const operations = [
    ['GET', ''],
    ['GET', ':subscribe'],
    ['POST', ':cancel'],
  ] as const

  test('a task of an owner is not found by any other caller', async () => {
    const { id } = await session.begin('mine', ada)
    const others = [
      undefined,
      await session.home.token('bob'),
      await session.home.token('root', { scopes: [...everyScope, 'admin'] }),
    ]
    for (const token of others) {
      for (const [method, suffix] of operations) {
        const refused = await session.ask(method, `tasks/${id}${suffix}`, token)
        expect([refused.status, reasonOf(refused)], suffix).toEqual([404, 'TASK_NOT_FOUND'])
      }
      const sent = message([{ text: 'x' }], { taskId: id })
      expect(reasonOf(await session.ask('POST', 'message:send', token, sent))).toBe('TASK_NOT_FOUND')
    }
    const { taskManager } = session.home.gateway
    const namesake = {
      issuer: 'https://elsewhere.example',
      subject: 'ada',
      scopes: new Set([]),
      namespaces: [],
    }
    await expect(taskManager.get(id, namesake)).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' })
    expect((await session.ask('GET', `tasks/${id}`, ada)).status).toBe(200)
    expect((await session.ask('POST', `tasks/${id}:cancel`, ada)).status).toBe(200)
  })

  test('an anonymous task is visible to every caller who knows its id, and in no list', async () => {
    const { id } = await session.begin('nobody')
    expect((await session.ask('GET', `tasks/${id}`)).status).toBe(200)
    const cy = await session.home.token('cy')
    expect((await session.ask('POST', `tasks/${id}:cancel`, cy)).status).toBe(200)
    expect((await session.ask('GET', 'tasks', cy)).json).toEqual({
      tasks: [],
      nextPageToken: '',
      pageSize: 50,
      totalSize: 0,
    })
    const anonymous = await session.ask('GET', 'tasks')
    expect([anonymous.status, reasonOf(anonymous)]).toEqual([401, 'UNAUTHENTICATED'])
  })
})

describe('a list of tasks', () => {
  let dan: string
  const ids: string[] = []
  beforeAll(async () => {
    dan = await session.home.token('dan')
    for (let index = 0; index < 5; index++) {
      const contextId = index < 3 ? 'c1' : 'c2'
      const { id } = await session.begin(`listed ${index}`, dan, { contextId })
      await (await session.work(`listed ${index}`)).end(index === 0 ? input : completed)
      ids.unshift(id)
    }
  })
  const list = async (query: string) => (await session.ask('GET', `tasks${query}`, dan)).json
  const idsOf = ({ tasks }: Event) => tasks.map(({ id }: { id: string }) => id)

  test('is sorted by when they changed, the latest first, and read page by page', async () => {
    const times = (await list('')).tasks.map((task: Event) => task.status.timestamp)
    expect(times).toEqual(times.toSorted().reverse())
    const seen: string[] = []
    for (let token = '', page = 0; page < 3; page++) {
      const answer = await list(`?pageSize=2&pageToken=${token}`)
      expect([answer.pageSize, answer.totalSize]).toEqual([2, 5])
      seen.push(...idsOf(answer))
      token = answer.nextPageToken
      expect(token === '').toBe(page === 2)
    }
    expect(seen.toSorted()).toEqual(ids.toSorted())
    expect(new Set(seen).size).toBe(5)
  })

  test('is filtered by context, state and time, with the requested artifacts and history', async () => {
    expect(idsOf(await list('?contextId=c2'))).toHaveLength(2)
    expect(idsOf(await list(`?status=${input}`))).toEqual([ids.at(-1)])
    expect(idsOf(await list('?status=TASK_STATE_UNSPECIFIED'))).toHaveLength(5)
    expect(idsOf(await list('?statusTimestampAfter=2000-01-01T00:00:00Z'))).toHaveLength(5)
    expect(idsOf(await list('?statusTimestampAfter=2100-01-01T00:00:00%2B01:00'))).toEqual([])
    const [bare] = (await list('?pageSize=1')).tasks
    expect(bare).not.toHaveProperty('artifacts')
    expect(bare.history).toHaveLength(1)
    const [full] = (await list('?pageSize=1&includeArtifacts=true&historyLength=0')).tasks
    expect(full).toHaveProperty('artifacts')
    expect(full).not.toHaveProperty('history')
  })

  test.each([
    ['pageSize=0', '/pageSize'],
    ['pageSize=101', '/pageSize'],
    ['pageSize=1.5', '/pageSize'],
    ['pageSize=many', '/pageSize'],
    ['pageToken=junk', '/pageToken'],
    ['historyLength=-1', '/historyLength'],
    ['status=working', '/status'],
    ['statusTimestampAfter=yesterday', '/statusTimestampAfter'],
    ['includeArtifacts=maybe', '/includeArtifacts'],
  ])('refuses %s', async (query, field) => {
    const refused = await session.ask('GET', `tasks?${query}`, dan)
    expect([refused.status, reasonOf(refused)]).toEqual([400, 'INVALID_REQUEST'])
    expect(refused.json.error.details[1].fieldViolations[0].field).toBe(field)
  })
})
