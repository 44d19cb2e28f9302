import { expect, test } from 'vitest'
import { inThread } from '../../src/common/in-thread.ts'

const entry = (code: string) =>
  new URL(
    `data:text/javascript,${encodeURIComponent(`import { parentPort, workerData } from 'node:worker_threads'\n${code}`)}`,
  )

test('a job gets its input, and its first message is the result', async () => {
  expect(await inThread(entry('parentPort.postMessage(workerData * 2)'), 21, 5000)).toBe(42)
})

test.each([
  ['computes for ever', 'for (;;) {}'],
  ['searches for ever', "/^(a+)+$/.test('a'.repeat(60) + '!')"],
])('a job that %s ends after its CPU time', async (_, code) => {
  await expect(inThread(entry(code), null, 200)).rejects.toThrow(
    // A busy machine gives it less.
    /^The job took more than (200 ms of CPU time|2000 ms)\.$/,
  )
})

test('a job that waits for ever ends after ten times its CPU time', async () => {
  await expect(inThread(entry('setInterval(() => {}, 1000)'), null, 150)).rejects.toThrow(
    'The job took more than 1500 ms.',
  )
})

test.each([
  ['fails', "throw new Error('broken')", 'broken'],
  ['ends without a result', '', 'The thread ended without a result.'],
  ['fills its memory', 'const all = []; for (;;) all.push(new Array(1e6).fill(1))', /memory/],
])('a job that %s is an error', async (_, code, message) => {
  await expect(inThread(entry(code), null, 20_000)).rejects.toThrow(message)
})
