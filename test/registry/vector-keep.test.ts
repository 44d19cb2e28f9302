import { setTimeout as pause } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { createVectorKeep } from '../../src/registry/indexing/vector-keep.ts'
import type { Embeddings } from '../../src/store/store.ts'

const vector = (number: number) => new Float32Array([number])
const some = (from: number, to: number) =>
  new Map(Array.from({ length: to - from }, (_, at) => [`text-${from + at}`, vector(from + at)]))

/** A store of vectors that takes a moment, and fails when told. */
function slowStore() {
  const kept = new Map<string, Float32Array>()
  const state = { writes: 0, failing: false }
  const embeddings: Embeddings = {
    find: async (_, hashes) =>
      new Map(hashes.flatMap((hash) => (kept.has(hash) ? [[hash, kept.get(hash) ?? vector(0)]] : []))),
    async keep(_, vectors) {
      state.writes++
      await pause(10)
      if (state.failing) throw new Error('The disk is asleep.')
      for (const [hash, one] of vectors) kept.set(hash, one)
    },
    count: async () => kept.size,
  }
  return { embeddings, kept, state }
}

test('vectors of many changes are kept in one write a moment later, and found before, during and after it', async () => {
  const { embeddings, kept, state } = slowStore()
  await using keep = createVectorKeep(embeddings, 'model', () => {})
  for (let at = 0; at < 20; at++) await keep.add(some(at, at + 1))
  expect(state.writes).toBe(0)
  while (kept.size === 0) {
    expect((await keep.find(['text-3', 'other'])).get('text-3')).toEqual(vector(3))
    await pause(1)
  }
  expect([state.writes, kept.size]).toEqual([1, 20])
  expect([...(await keep.find(['text-3', 'other'])).keys()]).toEqual(['text-3'])
})

test('what waits for a write that is under way is found', async () => {
  const { embeddings } = slowStore()
  await using keep = createVectorKeep(embeddings, 'model', () => {})
  const first = keep.add(some(0, 200))
  const second = keep.add(some(200, 400))
  await Promise.resolve()
  expect([...(await keep.find(['text-0', 'text-200'])).keys()]).toEqual(['text-0', 'text-200'])
  await Promise.all([first, second])
})

test('many that wait are written at once, and whoever brings them waits for that', async () => {
  const { embeddings, kept } = slowStore()
  await using keep = createVectorKeep(embeddings, 'model', () => {})
  await keep.add(some(0, 300))
  expect(kept.size).toBe(300)
})

test('what waits is written at the end', async () => {
  const { embeddings, kept } = slowStore()
  {
    await using keep = createVectorKeep(embeddings, 'model', () => {})
    await keep.add(some(0, 2))
  }
  expect(kept.size).toBe(2)
})

test('what cannot be kept is told, and hurts nobody', async () => {
  const { embeddings, state } = slowStore()
  const onError = vi.fn()
  await using keep = createVectorKeep(embeddings, 'model', onError)
  state.failing = true
  await keep.add(some(0, 300))
  expect(onError).toHaveBeenCalledOnce()
  state.failing = false
  await keep.add(some(300, 600))
  expect((await keep.find(['text-400'])).size).toBe(1)
})
