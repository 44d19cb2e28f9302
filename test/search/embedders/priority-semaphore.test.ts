import { describe, expect, test } from 'vitest'
import { PrioritySemaphore, type Purpose } from '../../../src/search/embedders/priority-semaphore.ts'
import { rejection } from '../../net/support.ts'

const signal = new AbortController().signal

/** The order in which waiting calls get the only slot; each releases it at once. */
async function order(semaphore: PrioritySemaphore, callers: readonly (readonly [Purpose, string])[]) {
  const inside: string[] = []
  const slot = await semaphore.acquire('query', signal)
  const waiting = callers.map(async ([as, name]) => {
    using _slot = await semaphore.acquire(as, signal)
    inside.push(name)
  })
  slot[Symbol.dispose]()
  await Promise.all(waiting)
  return inside.join('')
}

describe('the semaphore of an embedder', () => {
  test('gives out its slots, then each one that is released', async () => {
    using semaphore = new PrioritySemaphore({ slots: 2, max_waiting: 9 })
    const first = await semaphore.acquire('document', signal)
    await semaphore.acquire('document', signal)
    let isIn = false
    const third = semaphore.acquire('document', signal).then(() => {
      isIn = true
    })
    await new Promise(setImmediate)
    expect(isIn).toBe(false)
    first[Symbol.dispose]()
    first[Symbol.dispose]()
    await third
    const fourth = semaphore.acquire('document', signal).then(() => 'in')
    expect(await Promise.race([fourth, new Promise((resolve) => setImmediate(resolve, 'out'))])).toBe('out')
  })

  test('prefers queries, in their order, but a document follows every four', async () => {
    using semaphore = new PrioritySemaphore({ slots: 1, max_waiting: 99 })
    const documents = ['a', 'b', 'c'].map((name) => ['document', name] as const)
    const queries = [...'123456'].map((name) => ['query', name] as const)
    expect(await order(semaphore, [...documents, ...queries])).toBe('1234a56bc')
    expect(await order(semaphore, queries)).toBe('123456')
  })

  test('keeps a slot for queries', async () => {
    using semaphore = new PrioritySemaphore({ slots: 2, document_slots: 1, max_waiting: 9 })
    await semaphore.acquire('document', signal)
    const waiting = rejection(semaphore.acquire('document', signal))
    await semaphore.acquire('query', signal)
    semaphore[Symbol.dispose]()
    expect(await waiting).toMatchObject({ code: 'unavailable' })
  })

  test('refuses calls beyond the limit of waiting calls, and no others', async () => {
    using semaphore = new PrioritySemaphore({ slots: 2, document_slots: 1, max_waiting: 1 })
    const slot = await semaphore.acquire('document', signal)
    const waiting = semaphore.acquire('document', signal)
    const refused = await rejection(semaphore.acquire('document', signal))
    expect(refused).toMatchObject({ code: 'unavailable', details: { retry_after_s: expect.any(Number) } })
    await semaphore.acquire('query', signal)
    slot[Symbol.dispose]()
    await waiting
  })

  test('drops a waiting call whose signal aborts', async () => {
    using semaphore = new PrioritySemaphore({ slots: 1, max_waiting: 2 })
    const slot = await semaphore.acquire('query', signal)
    const caller = new AbortController()
    const leaving = rejection(semaphore.acquire('query', caller.signal))
    const next = semaphore.acquire('query', signal)
    caller.abort('gone')
    expect(await leaving).toBe('gone')
    slot[Symbol.dispose]()
    await next
    expect(await rejection(semaphore.acquire('query', caller.signal))).toBe('gone')
  })

  test('ignores the signal of a call that has its slot', async () => {
    using semaphore = new PrioritySemaphore({ slots: 1, max_waiting: 2 })
    const caller = new AbortController()
    const slot = await semaphore.acquire('query', caller.signal)
    const next = semaphore.acquire('query', signal)
    caller.abort()
    slot[Symbol.dispose]()
    await next
  })

  test('refuses every call once it is closed', async () => {
    const semaphore = new PrioritySemaphore({ slots: 1, max_waiting: 9 })
    await semaphore.acquire('query', signal)
    const waiting = (['query', 'document'] as const).map((as) => rejection(semaphore.acquire(as, signal)))
    semaphore[Symbol.dispose]()
    const failures = [...(await Promise.all(waiting)), await rejection(semaphore.acquire('query', signal))]
    for (const failure of failures) expect(failure).toMatchObject({ code: 'unavailable' })
  })
})
