import { setTimeout as pause } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { createVectorKeep } from '../../src/registry/indexing/vector-keep.ts'
import type { Embeddings } from '../../src/store/record-stores.ts'

const vector = (number: number) => new Float32Array([number])
const vectorsBetween = (from: number, to: number) =>
  new Map(Array.from({ length: to - from }, (_, at) => [`text-${from + at}`, vector(from + at)]))

/** A slow vector store with switchable failures. */
function slowStore() {
  const stored = new Map<string, Float32Array>()
  const state = { writes: 0, failing: false }
  const embeddings: Embeddings = {
    find: async (_, hashes) =>
      new Map(hashes.flatMap((hash) => (stored.has(hash) ? [[hash, stored.get(hash) ?? vector(0)]] : []))),
    async keep(_, vectors) {
      state.writes++
      await pause(10)
      if (state.failing) throw new Error('The disk is asleep.')
      for (const [hash, added] of vectors) stored.set(hash, added)
    },
    exceed: async (_, count) => stored.size > count,
  }
  return { embeddings, stored, state }
}

test('vectors of many changes are kept in one write a moment later, and found before, during and after it', async () => {
  const { embeddings, stored, state } = slowStore()
  await using keep = createVectorKeep(embeddings, 'model', () => {})
  for (let at = 0; at < 20; at++) await keep.add(vectorsBetween(at, at + 1))
  expect(state.writes).toBe(0)
  while (stored.size === 0) {
    expect((await keep.find(['text-3', 'other'])).get('text-3')).toEqual(vector(3))
    await pause(1)
  }
  expect([state.writes, stored.size]).toEqual([1, 20])
  expect([...(await keep.find(['text-3', 'other'])).keys()]).toEqual(['text-3'])
})

test('what waits for a write that is under way is found', async () => {
  const { embeddings } = slowStore()
  await using keep = createVectorKeep(embeddings, 'model', () => {})
  const first = keep.add(vectorsBetween(0, 200))
  const second = keep.add(vectorsBetween(200, 400))
  await Promise.resolve()
  expect([...(await keep.find(['text-0', 'text-200'])).keys()]).toEqual(['text-0', 'text-200'])
  await Promise.all([first, second])
})

test('a long queue is written at once, and its caller waits for the write', async () => {
  const { embeddings, stored } = slowStore()
  await using keep = createVectorKeep(embeddings, 'model', () => {})
  await keep.add(vectorsBetween(0, 300))
  expect(stored.size).toBe(300)
})

test('what waits is written at the end', async () => {
  const { embeddings, stored } = slowStore()
  {
    await using keep = createVectorKeep(embeddings, 'model', () => {})
    await keep.add(vectorsBetween(0, 2))
  }
  expect(stored.size).toBe(2)
})

test('a failed write is reported, without another effect', async () => {
  const { embeddings, state } = slowStore()
  const onError = vi.fn()
  await using keep = createVectorKeep(embeddings, 'model', onError)
  state.failing = true
  await keep.add(vectorsBetween(0, 300))
  expect(onError).toHaveBeenCalledOnce()
  state.failing = false
  await keep.add(vectorsBetween(300, 600))
  expect((await keep.find(['text-400'])).size).toBe(1)
})
