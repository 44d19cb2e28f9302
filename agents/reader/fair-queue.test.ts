import { expect, test } from 'vitest'
import { createFairQueue, type FairQueue } from './fair-queue.ts'

function drain<T>(queue: FairQueue<T>): T[] {
  const items: T[] = []
  for (let item = queue.take(); item !== undefined; item = queue.take()) items.push(item)
  return items
}

/** Adds items such as `a1`, whose first letter is the caller; returns the item that each addition turned away. */
function addAll(queue: FairQueue<string>, items: readonly string[]): (string | undefined)[] {
  return items.map((item) => queue.add(item.slice(0, 1), item))
}

test('callers take turns, and the items of one caller keep their order', () => {
  const queue = createFairQueue<string>(10)
  addAll(queue, ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'])
  expect(queue.size).toBe(6)
  expect(drain(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
  expect(queue.size).toBe(0)
})

test('a caller whose item was taken goes to the end of the turns', () => {
  const queue = createFairQueue<string>(10)
  addAll(queue, ['a1', 'a2', 'b1'])
  expect(queue.take()).toBe('a1')
  addAll(queue, ['c1'])
  expect(drain(queue)).toEqual(['b1', 'a2', 'c1'])
})

test('holds exactly as many items as it may', () => {
  const queue = createFairQueue<string>(2)
  expect(addAll(queue, ['a1', 'a2', 'a3'])).toEqual([undefined, undefined, 'a3'])
  expect(drain(queue)).toEqual(['a1', 'a2'])
})

test('a full queue turns away the newest item of the longest lane for a caller with a shorter lane', () => {
  const queue = createFairQueue<string>(4)
  addAll(queue, ['b1', 'a1', 'a2', 'a3'])
  expect(queue.add('c', 'c1')).toBe('a3')
  expect(queue.size).toBe(4)
  expect(drain(queue)).toEqual(['b1', 'a1', 'c1', 'a2'])
})

test.each([
  { lanes: ['a1', 'a2', 'b1'], item: 'b2', turnedAway: 'b2', why: 'would then be as long as the longest' },
  { lanes: ['a1', 'b1', 'c1'], item: 'd1', turnedAway: 'd1', why: 'is as long as every other' },
  { lanes: ['a1', 'a2', 'a3', 'b1'], item: 'b2', turnedAway: 'a3', why: 'is shorter by two' },
  { lanes: ['a1', 'a2', 'a3'], item: 'a4', turnedAway: 'a4', why: 'is the longest' },
])('a full queue turns away $turnedAway for a lane that $why', ({ lanes, item, turnedAway }) => {
  const queue = createFairQueue<string>(lanes.length)
  addAll(queue, lanes)
  expect(addAll(queue, [item])).toEqual([turnedAway])
  expect(queue.size).toBe(lanes.length)
})

test('a removed item leaves its lane and keeps the turns of the others', () => {
  const queue = createFairQueue<string>(10)
  addAll(queue, ['a1', 'b1', 'a2', 'c1'])
  queue.remove('b1')
  queue.remove('a1')
  queue.remove('unknown')
  expect(queue.size).toBe(2)
  expect(drain(queue)).toEqual(['a2', 'c1'])
})
