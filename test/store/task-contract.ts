import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { StoredTask, TaskBounds, TaskState, TaskStore } from '../../schemas/task.ts'
import { at, type StoreHome } from './contract.ts'
import { nothing } from './retention-contract.ts'

const many: TaskBounds = { unfinished: 100, total: 1000, characters: 10_000_000 }
const owner = '["urn:test","ada"]'

let made = 0
function sampleTask(overrides: Partial<StoredTask> = {}): StoredTask {
  made += 1
  return {
    id: String(made).padStart(32, '0'),
    owner,
    counted_by: overrides.owner ?? owner,
    agent: 'com.example.a',
    context_id: 'c',
    state: 'TASK_STATE_COMPLETED',
    updated_at: at(0),
    expires_at: at(1),
    holder: 'h',
    alive_until: null,
    message: null,
    history: [{ messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] }],
    artifacts: [{ artifactId: 'a', parts: [{ data: { n: 1 } }] }],
    ...overrides,
  }
}

const config = { id: 'c', url: 'https://example.com/', owner, sealed: null }
const held = (states: readonly TaskState[]) => ({ holder: 'h', states })
const working = { state: 'TASK_STATE_WORKING', alive_until: at(1) } as const

/** What every store must do with tasks, on every database. */
export function taskContract(name: string, open: () => Promise<StoreHome>): void {
  describe(`tasks on ${name}`, () => {
    let home: StoreHome
    let tasks: TaskStore
    beforeEach(async () => {
      home = await open()
      tasks = home.store.tasks
    })
    afterEach(() => home[Symbol.asyncDispose]())

    const add = async (task: StoredTask) => {
      expect(await tasks.add(task, many, many)).toBe('added')
      return task
    }

    test('are stored whole, for every instance, and take no revision', async () => {
      const task = await add(sampleTask())
      expect(await (await home.another()).tasks.get(task.id)).toEqual(task)
      expect(await home.store.read.revision()).toBe(0)
      expect(await home.store.changes(0, 10)).toEqual([])
      expect(await tasks.get('0')).toBeUndefined()
    })

    test('keep what a later version added to them while it ran over the same database', async () => {
      const later = { later: { note: 'x' } }
      const task = await add(sampleTask({ ...working, ...later }))
      await home.execute(`alter table task add column later_column text`)
      await home.execute(`update task set later_column = 'y'`)

      const read = await tasks.get(task.id)
      expect(read).toEqual({ ...task, ...later })
      expect((await tasks.list({ owner, limit: 10 })).tasks).toEqual([read])
      const ended: StoredTask = { ...task, ...read, state: 'TASK_STATE_CANCELED', alive_until: null }
      expect(await tasks.save(ended, held(['TASK_STATE_WORKING']))).toBe(true)
      expect(await tasks.get(task.id)).toEqual({ ...ended, ...later })
    })

    test('are listed by the agent that they were given to', async () => {
      const task = await add(sampleTask({ agent: 'com.example.one' }))
      await add(sampleTask({ agent: null }))
      const { tasks: found, total } = await tasks.list({ owner, agent: 'com.example.one', limit: 10 })
      expect([found, total]).toEqual([[task], 1])
    })

    test('keep the addresses of their notifications apart from what their workers write', async () => {
      const task = await add(sampleTask({ ...working, upstream: { agent: 'com.example.a', task_id: 't' } }))
      await Promise.all(
        ['1', '2'].map((id) => tasks.changePush(task.id, (configs) => [...configs, { ...config, id }])),
      )
      expect(await tasks.save({ ...task, context_id: 'd' }, held(['TASK_STATE_WORKING']))).toBe(true)
      const ids = (await tasks.push(task.id)).map(({ id }) => id).sort()
      expect(ids).toEqual(['1', '2'])
      const full = () => {
        throw new Error('full')
      }
      await expect(tasks.changePush(task.id, full)).rejects.toThrow('full')
      expect(await tasks.push(task.id)).toHaveLength(2)
      expect(await tasks.push('0')).toEqual([])
      expect((await tasks.get(task.id))?.upstream).toEqual(task.upstream)
    })

    test('are written only from the states that the writer knows', async () => {
      const task = await add(sampleTask(working))
      const done = { ...task, state: 'TASK_STATE_COMPLETED' as const, alive_until: null }
      expect(await tasks.save(done, held(['TASK_STATE_INPUT_REQUIRED']))).toBe(false)
      expect(await tasks.get(task.id)).toEqual(task)
      expect(await tasks.save(done, held(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING']))).toBe(true)
      expect(await tasks.save(task, held(['TASK_STATE_WORKING']))).toBe(false)
      expect(await tasks.get(task.id)).toEqual(done)
      expect(await tasks.save(sampleTask(), held(['TASK_STATE_COMPLETED']))).toBe(false)
    })

    test('that have expired are neither read, listed nor written', async () => {
      const task = await add(sampleTask({ expires_at: at(0) }))
      expect(await tasks.get(task.id)).toBeUndefined()
      expect((await tasks.list({ owner, limit: 10 })).total).toBe(0)
      expect(await tasks.save(task, held(['TASK_STATE_COMPLETED']))).toBe(false)
    })

    test('that a process works on, or whose end is to be posted, stay when the clock is set forward', async () => {
      const work = await add(sampleTask({ ...working, expires_at: at(0), alive_until: at(0) }))
      const ended = await add(sampleTask({ expires_at: at(0), alive_until: at(0) }))
      await home.store.tasks.add(sampleTask(), many, many)
      await home.store.retention.prune(nothing)
      expect(await tasks.get(work.id)).toEqual(work)
      expect(await tasks.get(ended.id)).toEqual(ended)
      expect((await tasks.lapsed(10)).map(({ id }) => id).toSorted()).toEqual([work.id, ended.id])
      const states = ['TASK_STATE_WORKING'] as const
      expect(await tasks.save({ ...work, expires_at: at(1), alive_until: at(1) }, held(states))).toBe(true)
      expect(await tasks.save({ ...ended, alive_until: null }, held(['TASK_STATE_COMPLETED']))).toBe(true)
      expect(await tasks.get(ended.id)).toBeUndefined()
    })

    test('are written by their holder alone, and no more by one whose task was taken over', async () => {
      const task = await add(sampleTask({ ...working, alive_until: at(0) }))
      const states = ['TASK_STATE_WORKING'] as const
      const taken = { ...task, holder: 'i', alive_until: at(1) }
      // Its holder has renewed the lease after the other process had read it.
      expect(await tasks.save(taken, { holder: 'h', states, alive_until: at(-1) })).toBe(false)
      expect(await tasks.save(taken, { holder: 'h', states, alive_until: at(0) })).toBe(true)
      expect(await tasks.save({ ...task, context_id: 'late' }, held(states))).toBe(false)
      expect(await tasks.get(task.id)).toEqual(taken)
    })

    test('keep the lease of an end only where addresses are to be told of it', async () => {
      const task = await add(sampleTask(working))
      const states = ['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED'] as const
      const done = { ...task, state: 'TASK_STATE_COMPLETED' as const }
      expect(await tasks.save(done, held(states))).toBe(true)
      expect((await tasks.get(task.id))?.alive_until).toBeNull()
      await tasks.changePush(task.id, () => [config])
      expect(await tasks.save(done, held(states))).toBe(true)
      expect((await tasks.get(task.id))?.alive_until).toBe(at(1))
      await tasks.changePush(task.id, () => [])
      expect(await tasks.save(done, held(states))).toBe(true)
      expect((await tasks.get(task.id))?.alive_until).toBeNull()
    })

    test('whose lease has expired are found, the longest dead first, and no look changes them', async () => {
      const dead = async (alive_until: string) => await add(sampleTask({ ...working, alive_until }))
      const later = await dead(at(0))
      const first = await dead(at(-9))
      await add(sampleTask(working))
      await add(sampleTask())
      const found = [first, later].map(({ id, holder, alive_until }) => ({ id, holder, alive_until }))
      expect(await tasks.lapsed(1)).toEqual(found.slice(0, 1))
      expect(await tasks.lapsed(10)).toEqual(found)
      expect(await tasks.get(first.id)).toEqual(first)
      expect((await tasks.list({ owner, state: 'TASK_STATE_FAILED', limit: 10 })).total).toBe(0)
    })

    test('are listed per owner by the time of their state, the latest first, page by page', async () => {
      const ids: string[] = []
      for (const time of [1, 2, 2, 2, 3]) ids.unshift((await add(sampleTask({ updated_at: at(time) }))).id)
      await add(sampleTask({ owner: '["urn:test","bob"]' }))
      await add(sampleTask({ owner: null, counted_by: '10.0.0.1' }))
      const seen: string[] = []
      for (let after: StoredTask | undefined; ; ) {
        const page = await tasks.list({ owner, after, limit: 2 })
        expect(page.total).toBe(5)
        seen.push(...page.tasks.map(({ id }) => id))
        after = page.tasks.at(-1)
        if (!page.more) break
      }
      expect(seen).toEqual(ids)
      const later = await tasks.list({ owner, updated_after: at(2), limit: 10 })
      expect(later.tasks.map(({ id }) => id)).toEqual(ids.slice(0, 1))
    })

    test('that are long fill shorter pages', async () => {
      const artifacts = [{ artifactId: 'a', parts: [{ text: 'x'.repeat(2_000_000) }] }]
      for (let index = 0; index < 4; index++) await add(sampleTask({ artifacts }))
      const page = await tasks.list({ owner, limit: 10 })
      expect([page.tasks.length, page.more, page.total]).toEqual([2, true, 4])
    })

    test('are limited in unfinished ones per caller, under concurrency', async () => {
      const other = (await home.another()).tasks
      const few = { ...many, unfinished: 3 }
      const wished = Array.from({ length: 8 }, () => sampleTask(working))
      const verdicts = await Promise.all(
        wished.map((task, index) => (index % 2 ? tasks : other).add(task, few, many)),
      )
      expect(verdicts.filter((verdict) => verdict === 'added')).toHaveLength(3)
      expect(new Set(verdicts)).toEqual(new Set(['added', 'busy']))
      expect(await tasks.add(sampleTask({ ...working, owner: '["urn:test","bob"]' }), few, few)).toBe('full')
    })

    test('make room, the oldest first, by number and by length, but unfinished ones stay', async () => {
      const few = { ...many, total: 3 }
      const open = await add(sampleTask({ ...working, updated_at: at(-9) }))
      const [first, second] = [await add(sampleTask({ updated_at: at(-2) })), await add(sampleTask())]
      expect(await tasks.add(sampleTask(), few, many)).toBe('added')
      expect(await tasks.get(first.id)).toBeUndefined()
      const short = { ...many, characters: 400 }
      expect(await tasks.add(sampleTask(), short, many)).toBe('added')
      expect(await tasks.get(second.id)).toBeUndefined()
      expect(await tasks.get(open.id)).toEqual(open)
    })

    test('of anonymous callers make room when the store exceeds its limit; owned ones stay', async () => {
      const few = { ...many, total: 2 }
      const mine = await add(sampleTask({ updated_at: at(-5) }))
      const anonymous = await add(sampleTask({ owner: null, counted_by: '10.0.0.1' }))
      expect(await tasks.add(sampleTask(), many, few)).toBe('added')
      expect(await tasks.get(anonymous.id)).toBeUndefined()
      expect(await tasks.get(mine.id)).toEqual(mine)
      expect(await tasks.add(sampleTask(), many, few)).toBe('full')
    })
  })
}
