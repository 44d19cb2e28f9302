import { expect, test } from 'vitest'
import { spawnSandboxed } from '../../src/runner/sandbox/spawn.ts'
import { memoryOf } from '../../src/runner/sandbox/usage.ts'

test('a process ends well although what it leaves behind cannot be removed', async () => {
  await using child = await spawnSandboxed({
    command: ['/bin/sh', '-c', 'exit 3'],
    env: {},
    cwd: '/',
    watch: { folders: [], disk_bytes: 0 },
    release: () => Promise.reject(new Error('EMFILE: too many open files')),
  })
  // Nobody waits for most processes: a rejection would end the gateway.
  expect(await child.exited).toEqual({ code: 3, signal: null, ending: null })
})

test('the memory of a process is not known where there is no /proc, which ends nothing', async () => {
  expect(await memoryOf(process.pid)).toBeGreaterThan(1024 ** 2)
  expect(await memoryOf(process.pid, '/nowhere')).toBe(0)
})
