import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { PoolBounds, Session, SessionPools, SessionStore, Step } from '../../schemas/playground.ts'
import { at, type StoreHome } from './contract.ts'

const much: PoolBounds = { sessions: 1000, characters: 10_000_000 }
const many: SessionPools = { own: much, anonymous: much }
const bounded = (bounds: Partial<PoolBounds>) => ({ own: much, anonymous: { ...much, ...bounds } })
const most = { steps: 100, characters: 1_000_000 }

let made = 0
function sampleSession(overrides: Partial<Session> = {}): Session {
  made += 1
  const id = String(made).padStart(32, '0')
  return { id, owner: null, counted_by: null, created_at: at(made), expires_at: at(3_600_000), ...overrides }
}

const step = (text = ''): Omit<Step, 'number'> => ({
  kind: 'execute',
  by: 'anonymous',
  started_at: at(0),
  duration_ms: 3,
  envelope: { to: 'svc.x', action: 'y', params: { text } },
  output: null,
})

/** What every store must do with playground sessions, on every database. */
export function sessionContract(name: string, open: () => Promise<StoreHome>): void {
  describe(`playground sessions on ${name}`, () => {
    let home: StoreHome
    let sessions: SessionStore
    beforeEach(async () => {
      home = await open()
      sessions = home.store.sessions
    })
    afterEach(() => home[Symbol.asyncDispose]())

    const add = async (overrides: Partial<Session> = {}, pool = many) => {
      const session = sampleSession(overrides)
      await sessions.add(session, pool)
      return session
    }
    const isThere = async ({ id }: Session) => (await sessions.get(id)) !== undefined

    test('are stored whole with their steps, in order, for every instance, and take no revision', async () => {
      const session = await add({ owner: '["urn:test","ada"]' })
      for (const number of [1, 2, 3]) {
        expect(await sessions.append(session.id, step(`${number}`), many)).toBe(number)
      }
      const other = (await home.another()).sessions
      expect(await other.get(session.id)).toEqual({ ...session, steps: 3 })
      const steps = [1, 2, 3].map((number) => ({ number, ...step(`${number}`) }))
      expect(await other.steps(session.id, 0, 1_000_000)).toEqual(steps)
      expect(await other.steps(session.id, 2, 1_000_000)).toEqual(steps.slice(2))
      expect(await other.append(session.id, step(), many)).toBe(4)
      expect(await home.store.read.revision()).toBe(0)
      expect(await sessions.get('0')).toBeUndefined()
    })

    test('return fewer steps at a time where they are long, and always at least one', async () => {
      const { id } = await add()
      for (let count = 0; count < 5; count++) await sessions.append(id, step('x'.repeat(1000)), many)
      expect(await sessions.steps(id, 0, 2700)).toHaveLength(2)
      expect(await sessions.steps(id, 2, 0)).toMatchObject([{ number: 3 }])
      expect(await sessions.steps(id, 5, 2700)).toEqual([])
    })

    test('that have expired are neither read nor written, and are deleted when another one begins', async () => {
      const { id } = await add({ expires_at: at(0) })
      expect(await sessions.get(id)).toBeUndefined()
      expect(await sessions.reserve(id, most)).toBe('gone')
      expect(await sessions.append(id, step(), many)).toBeUndefined()
      expect(await sessions.steps(id, 0, 1000)).toEqual([])
      await add()
      await add({ id })
      expect(await sessions.get(id)).toMatchObject({ steps: 0 })
    })

    test('limit their calls under concurrency', async () => {
      const { id } = await add()
      const other = (await home.another()).sessions
      const verdicts = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          (index % 2 ? sessions : other).reserve(id, { ...most, steps: 3 }),
        ),
      )
      expect(verdicts.filter((verdict) => verdict === 'reserved')).toHaveLength(3)
      expect(new Set(verdicts)).toEqual(new Set(['reserved', 'full']))
      await sessions.append(id, step('x'.repeat(500)), many)
      expect(await sessions.reserve(id, { steps: 100, characters: 500 })).toBe('full')
      expect(await sessions.reserve(id, most)).toBe('reserved')
      expect(await sessions.reserve('0', most)).toBe('gone')
    })

    test('that are deleted lose their steps too', async () => {
      const session = await add()
      await sessions.append(session.id, step(), many)
      await sessions.remove(session.id)
      expect(await sessions.get(session.id)).toBeUndefined()
      expect(await sessions.append(session.id, step(), many)).toBeUndefined()
      await sessions.add(session, many)
      expect(await sessions.steps(session.id, 0, 1000)).toEqual([])
    })

    test('make room for another of the same owner, those with the fewest steps and the oldest first', async () => {
      const ada = { owner: '["urn:test","ada"]' }
      const [used, idle, mine] = [await add(), await add(), await add(ada)]
      await sessions.append(used.id, step(), many)
      const fresh = await add({}, bounded({ sessions: 2 }))
      expect(await Promise.all([used, idle, mine, fresh].map(isThere))).toEqual([true, false, true, true])
    })

    test('with the most characters go first when an owner exceeds its limit', async () => {
      const [small, large, now] = [await add(), await add(), await add()]
      await sessions.append(small.id, step(), many)
      await sessions.append(large.id, step('x'.repeat(2000)), many)
      await sessions.append(now.id, step('x'.repeat(3000)), bounded({ characters: 4000 }))
      expect(await Promise.all([small, large, now].map(isThere))).toEqual([true, false, true])
    })

    test('of one address make room for another of this address, and for nobody else', async () => {
      const [here, there] = [{ counted_by: '192.0.2.1' }, { counted_by: '192.0.2.2' }]
      const pools = { own: { sessions: 2, characters: 4000 }, anonymous: much }
      const [first, second, other] = [await add(here, pools), await add(here, pools), await add(there, pools)]
      const third = await add(here, pools)
      expect(await Promise.all([first, second, other, third].map(isThere))).toEqual([false, true, true, true])
      await sessions.append(second.id, step('x'.repeat(3000)), pools)
      await sessions.append(other.id, step('x'.repeat(3000)), pools)
      await sessions.append(third.id, step('x'.repeat(3500)), pools)
      expect(await Promise.all([second, other, third].map(isThere))).toEqual([false, true, true])
    })
  })
}
