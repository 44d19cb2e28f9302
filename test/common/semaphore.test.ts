import { describe, expect, test } from 'vitest'
import { createKeyedSemaphore, createSemaphore } from '../../src/common/semaphore.ts'

const { signal } = new AbortController()

describe('a semaphore', () => {
  test('passes a freed slot to the waiter that called first', async () => {
    const acquire = createSemaphore(1)
    const order: string[] = []
    const first = await acquire(signal)
    const others = ['second', 'third'].map(async (name) => {
      using _slot = await acquire(signal)
      order.push(name)
    })
    first[Symbol.dispose]()
    await Promise.all(others)
    expect(order).toEqual(['second', 'third'])
  })

  test('frees a slot that is disposed twice only once', async () => {
    const acquire = createSemaphore(1, 1, () => new Error('full'))
    const slot = await acquire(signal)
    slot[Symbol.dispose]()
    slot[Symbol.dispose]()
    await acquire(signal)
    void acquire(signal)
    await expect(acquire(signal)).rejects.toThrow('full')
  })

  test('rejects a waiter with the reason of its signal and serves the next one', async () => {
    const acquire = createSemaphore(1)
    const slot = await acquire(signal)
    const caller = new AbortController()
    const aborted = acquire(caller.signal)
    const next = acquire(signal)
    caller.abort(new Error('left'))
    await expect(aborted).rejects.toThrow('left')
    slot[Symbol.dispose]()
    await expect(next).resolves.toBeDefined()
  })
})

describe('a keyed semaphore', () => {
  test('bounds each key by itself', async () => {
    const acquire = createKeyedSemaphore(1, 0, () => new Error('full'))
    const slot = await acquire('a', signal)
    await expect(acquire('a', signal)).rejects.toThrow('full')
    await acquire('b', signal)
    slot[Symbol.dispose]()
    await acquire('a', signal)
  })
  test('keeps the bound of a key in use while thousands of others come and go', async () => {
    const acquire = createKeyedSemaphore(1, 0, () => new Error('full'))
    await acquire('held', signal)
    for (let index = 0; index < 5_000; index++) {
      using _ = await acquire(`other ${index}`, signal)
    }
    await expect(acquire('held', signal)).rejects.toThrow('full')
  })
})
