import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Failure } from '../../schemas/failure.ts'
import { RunningCalls } from '../../src/router/deadline.ts'
import { lasting } from '../support/router.ts'

const forever = new Promise<never>(() => {})
const stopped = new Failure('unavailable', 'The gateway stops.')

test('calls that stop are those that still run, in whatever order others have ended', async () => {
  const calls = new RunningCalls(lasting)
  const parent = new AbortController()
  const started = Array.from({ length: 6 }, () => calls.start(parent.signal, 60_000, null))
  for (const ended of [0, 5, 2]) started[ended]?.[Symbol.dispose]()
  const running = [1, 3, 4].map((number) => started[number]?.race(forever))
  calls.end(stopped)
  for (const call of running) await expect(call).rejects.toBe(stopped)
  expect(started.map(({ signal }) => signal.aborted)).toEqual([false, true, false, true, true, false])
})

test('a call ends with its caller, in the turn in which it begins and later', async () => {
  const calls = new RunningCalls(lasting)
  const [early, late] = [new AbortController(), new AbortController()]
  using first = calls.start(early.signal, Number.POSITIVE_INFINITY, null)
  using second = calls.start(late.signal, Number.POSITIVE_INFINITY, null)
  const [firstWork, secondWork] = [first.race(forever), second.race(forever)]
  early.abort()
  await expect(firstWork).rejects.toMatchObject({ code: 'cancelled' })
  await setImmediate()
  late.abort()
  await expect(secondWork).rejects.toMatchObject({ code: 'cancelled' })
  expect(() => calls.start(late.signal, 1, null)).toThrow(expect.objectContaining({ code: 'cancelled' }))
})

test('a call that has ended hears neither its caller nor its time', async () => {
  const calls = new RunningCalls(lasting)
  const parent = new AbortController()
  const call = calls.start(parent.signal, 1, null)
  expect(await call.race(Promise.resolve('done'))).toBe('done')
  await setImmediate()
  call[Symbol.dispose]()
  parent.abort()
  await setImmediate()
  expect(call.signal.aborted).toBe(false)
})
