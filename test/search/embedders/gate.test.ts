import { describe, expect, test } from 'vitest'
import { createGate, type Purpose } from '../../../src/search/embedders/gate.ts'
import { rejection } from '../../net/support.ts'

const signal = new AbortController().signal

/** Notes in which order those who wait are let in, each leaving at once. */
async function order(gate: ReturnType<typeof createGate>, callers: readonly (readonly [Purpose, string])[]) {
  const inside: string[] = []
  const place = await gate.enter('query', signal)
  const waiting = callers.map(async ([as, name]) => {
    using _place = await gate.enter(as, signal)
    inside.push(name)
  })
  place[Symbol.dispose]()
  await Promise.all(waiting)
  return inside.join('')
}

describe('the gate of an embedder', () => {
  test('lets in as many as there are places, then each as another leaves', async () => {
    using gate = createGate({ places: 2, waiting_limit: 9 })
    const first = await gate.enter('document', signal)
    await gate.enter('document', signal)
    let isIn = false
    const third = gate.enter('document', signal).then(() => {
      isIn = true
    })
    await new Promise(setImmediate)
    expect(isIn).toBe(false)
    first[Symbol.dispose]()
    first[Symbol.dispose]()
    await third
    const fourth = gate.enter('document', signal).then(() => 'in')
    expect(await Promise.race([fourth, new Promise((resolve) => setImmediate(resolve, 'out'))])).toBe('out')
  })

  test('lets queries go first, in their order, but a document after every four', async () => {
    using gate = createGate({ places: 1, waiting_limit: 99 })
    const documents = ['a', 'b', 'c'].map((name) => ['document', name] as const)
    const queries = [...'123456'].map((name) => ['query', name] as const)
    expect(await order(gate, [...documents, ...queries])).toBe('1234a56bc')
    expect(await order(gate, queries)).toBe('123456')
  })

  test('keeps a place for queries', async () => {
    using gate = createGate({ places: 2, for_documents: 1, waiting_limit: 9 })
    await gate.enter('document', signal)
    const waiting = rejection(gate.enter('document', signal))
    await gate.enter('query', signal)
    gate[Symbol.dispose]()
    expect(await waiting).toMatchObject({ code: 'unavailable' })
  })

  test('refuses more than may wait, and nobody else', async () => {
    using gate = createGate({ places: 2, for_documents: 1, waiting_limit: 1 })
    const place = await gate.enter('document', signal)
    const waiting = gate.enter('document', signal)
    const refused = await rejection(gate.enter('document', signal))
    expect(refused).toMatchObject({ code: 'unavailable', details: { retry_after_s: expect.any(Number) } })
    await gate.enter('query', signal)
    place[Symbol.dispose]()
    await waiting
  })

  test('lets go of those who leave', async () => {
    using gate = createGate({ places: 1, waiting_limit: 2 })
    const place = await gate.enter('query', signal)
    const caller = new AbortController()
    const leaving = rejection(gate.enter('query', caller.signal))
    const next = gate.enter('query', signal)
    caller.abort('gone')
    expect(await leaving).toBe('gone')
    place[Symbol.dispose]()
    await next
    expect(await rejection(gate.enter('query', caller.signal))).toBe('gone')
  })

  test('forgets the signal of those it has let in', async () => {
    using gate = createGate({ places: 1, waiting_limit: 2 })
    const caller = new AbortController()
    const place = await gate.enter('query', caller.signal)
    const next = gate.enter('query', signal)
    caller.abort()
    place[Symbol.dispose]()
    await next
  })

  test('turns away everybody once it is closed', async () => {
    const gate = createGate({ places: 1, waiting_limit: 9 })
    await gate.enter('query', signal)
    const waiting = (['query', 'document'] as const).map((as) => rejection(gate.enter(as, signal)))
    gate[Symbol.dispose]()
    const failures = [...(await Promise.all(waiting)), await rejection(gate.enter('query', signal))]
    for (const failure of failures) expect(failure).toMatchObject({ code: 'unavailable' })
  })
})
