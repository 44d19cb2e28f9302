import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { StoredTask, TaskBounds, TaskStore } from '../../schemas/task.ts'
import { type StoreHome, storeTime } from './contract.ts'

const at = (after: number) => new Date(storeTime + after).toISOString()
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
    alive_until: null,
    message: null,
    history: [{ messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] }],
    artifacts: [{ artifactId: 'a', parts: [{ data: { n: 1 } }] }],
    ...overrides,
  }
}

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

    test('are listed by the agent that they were given to', async () => {
      const task = await add(sampleTask({ agent: 'com.example.one' }))
      await add(sampleTask({ agent: null }))
      const { tasks: found, total } = await tasks.list({ owner, agent: 'com.example.one', limit: 10 })
      expect([found, total]).toEqual([[task], 1])
    })

    test('keep the addresses of their notifications apart from what their workers write', async () => {
      const task = await add(sampleTask({ ...working, upstream: { agent: 'com.example.a', task_id: 't' } }))
      const config = { id: 'c', url: 'https://example.com/', owner, sealed: null }
      await Promise.all(
        ['1', '2'].map((id) => tasks.changePush(task.id, (configs) => [...configs, { ...config, id }])),
      )
      expect(await tasks.save({ ...task, context_id: 'd' }, ['TASK_STATE_WORKING'])).toBe(true)
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
      expect(await tasks.save(done, ['TASK_STATE_INPUT_REQUIRED'])).toBe(false)
      expect(await tasks.get(task.id)).toEqual(task)
      expect(await tasks.save(done, ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'])).toBe(true)
      expect(await tasks.save(task, ['TASK_STATE_WORKING'])).toBe(false)
      expect(await tasks.get(task.id)).toEqual(done)
      expect(await tasks.save(sampleTask(), ['TASK_STATE_COMPLETED'])).toBe(false)
    })

    test('that have expired are neither read, listed nor written', async () => {
      const task = await add(sampleTask({ expires_at: at(0) }))
      expect(await tasks.get(task.id)).toBeUndefined()
      expect((await tasks.list({ owner, limit: 10 })).total).toBe(0)
      expect(await tasks.save(task, ['TASK_STATE_COMPLETED'])).toBe(false)
    })

    test('whose process has not renewed them have failed, in a read and in a list', async () => {
      const lapsed = { ...working, alive_until: at(0), updated_at: at(-5) }
      const task = await add(sampleTask(lapsed))
      const asking = await add(sampleTask({ state: 'TASK_STATE_INPUT_REQUIRED' }))
      const other = await add(sampleTask(lapsed))
      const failedTask = { ...task, state: 'TASK_STATE_FAILED', updated_at: at(0) }
      expect(await tasks.get(task.id)).toEqual(failedTask)
      const list = await tasks.list({ owner, state: 'TASK_STATE_FAILED', limit: 10 })
      expect(list.tasks.map(({ id }) => id)).toEqual([other.id, task.id])
      expect((await tasks.get(asking.id))?.state).toBe('TASK_STATE_INPUT_REQUIRED')
      expect(await tasks.save(task, ['TASK_STATE_WORKING'])).toBe(false)
    })

    test('whose addresses wait are found, the longest dead first, and few at once if they are long', async () => {
      const text = 'x'.repeat(3_000_000)
      const dead = async (alive_until: string, parts = [{ text: '' }]) => {
        const { id } = await add(
          sampleTask({ ...working, alive_until, artifacts: [{ artifactId: 'a', parts }] }),
        )
        await tasks.changePush(id, () => [{ id: 'c', url: 'https://example.com/', owner, sealed: null }])
        return id
      }
      const later = await dead(at(0))
      const first = await dead(at(-9))
      const long = [await dead(at(-8), [{ text }]), await dead(at(-7), [{ text }])]
      expect((await tasks.abandoned(1)).map(({ id }) => id)).toEqual([first])
      expect((await tasks.abandoned(10)).map(({ id }) => id)).toEqual([first, long[0]])
      for (const task of await tasks.abandoned(10))
        await tasks.save({ ...task, alive_until: null }, ['TASK_STATE_FAILED'])
      expect((await tasks.abandoned(10)).map(({ id }) => id)).toEqual([long[1], later])
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
