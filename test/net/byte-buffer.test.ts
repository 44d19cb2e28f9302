import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { ByteBuffer } from '../../src/net/fetch/byte-buffer.ts'
import { rounds } from '../support/rounds.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const sizes = fc.array(fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 4000, max: 40_000 })), {
  maxLength: 60,
})

test('bytes come out as they went in, in chunks of any size; only large chunks and the first one are kept', () => {
  void fc.assert(
    fc.property(sizes, (lengths) => {
      const collected = new ByteBuffer()
      const whole: number[] = []
      for (const [at, length] of lengths.entries()) {
        const chunk = new Uint8Array(length).fill(at + 1)
        whole.push(...chunk)
        collected.add(chunk)
        // The sender may reuse the memory of a small chunk.
        if (collected.length > length && length < 1000) chunk.fill(0)
      }
      expect(collected.length).toBe(whole.length)
      expect(Buffer.compare(Buffer.from(collected.bytes()), Buffer.from(whole))).toBe(0)
    }),
    { numRuns: rounds(50) },
  )
})

test('an answer of one chunk is that chunk, and one without chunks is empty', () => {
  const [single, none] = [new ByteBuffer(), new ByteBuffer()]
  const chunk = new Uint8Array([1, 2])
  single.add(chunk)
  expect(single.bytes()).toBe(chunk)
  expect(none.bytes()).toEqual(new Uint8Array())
})

test('small chunks do not keep the memory they came in', async () => {
  const collected = new ByteBuffer()
  collectGarbage()
  const before = process.memoryUsage().arrayBuffers
  for (let at = 0; at < 2000; at++) collected.add(new Uint8Array(64 * 1024).subarray(0, 1))
  // The memory of buffers is freed a moment after they are collected.
  await vi.waitFor(() => {
    collectGarbage()
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 1024 * 1024)
  })
  expect(collected.length).toBe(2000)
})
