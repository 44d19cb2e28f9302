import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { standardLimits } from '../../../src/runner/create-runner.ts'
import { startPackageRegistry } from '../../support/package-registry.ts'
import { commandPuppet, puppet } from '../../support/puppet.ts'
import { lacking, openTestRunner } from '../../support/runner.ts'

const attack_ms = 3000

/** Each is the body of a program that runs until it is ended. */
const attacks: Readonly<Record<string, (require: NodeJS.Require, process: NodeJS.Process) => unknown>> = {
  'floods standard output': (_, process) => {
    const block = `${'x'.repeat(1024 * 1024)}\n`
    const write = () => process.stdout.write(block, write)
    write()
  },
  'floods standard error': (_, process) => {
    const block = 'secret line\n'.repeat(10_000)
    const write = () => process.stderr.write(block, write)
    write()
  },
  'eats memory': () => {
    const blocks: Buffer[] = []
    setInterval(() => blocks.push(Buffer.alloc(64 * 1024 * 1024, 1)), 10)
  },
  'forks without end': (require) => {
    setInterval(
      () =>
        require('node:child_process')
          .spawn('sleep', ['100'])
          .on('error', () => {}),
      1,
    )
  },
  'fills the disk': (require) => {
    const fs = require('node:fs')
    let count = 0
    setInterval(() => {
      for (let files = 0; files < 200; files++) fs.writeFileSync(`/home/package/${count++}`, 'x'.repeat(8192))
    }, 10)
  },
  'burns the processor': () => {
    for (;;) Math.random()
  },
}

/**
 * Watches the event loop of this thread: the longest time between two ticks for which the thread itself used the
 * processor. Other load of the machine delays a tick too, but is not the thread's own.
 */
function watchEventLoop() {
  let max_us = 0
  let last = process.threadCpuUsage()
  const timer = setInterval(() => {
    const { user, system } = process.threadCpuUsage(last)
    last = process.threadCpuUsage()
    max_us = Math.max(max_us, user + system)
  }, 2)
  return { max_ms: () => max_us / 1000, [Symbol.dispose]: () => clearInterval(timer) }
}

test('the watch of the event loop sees a thread that computes', async () => {
  using watched = watchEventLoop()
  await pause(20)
  for (const start = performance.now(); performance.now() - start < 200; ) Math.random()
  await pause(20)
  expect(watched.max_ms()).toBeGreaterThan(50)
})

test.skipIf(lacking)('no attack of a package delays the event loop by more than 50 ms', async () => {
  await using registry = await startPackageRegistry()
  registry.publish(puppet)
  const limits = { ...standardLimits, memory_bytes: 300 * 1024 ** 2, disk_bytes: 100 * 1024 ** 2 }
  await using world = await openTestRunner(registry, { limits })
  await (await world.run({ name: 'puppet' }))[Symbol.asyncDispose]()
  const delays: Record<string, number> = {}
  for (const [name, act] of Object.entries(attacks)) {
    const child = await world.run({ name: 'puppet' }, { env: { TOKEN: 'secret-value' }, home: 'attacked' })
    const attempt = commandPuppet(child)
    await attempt(() => 0)
    using watched = watchEventLoop()
    // The reader of lines stops at the first answer, so nobody reads the flood from then on.
    void attempt(act).catch(() => {})
    await Promise.race([pause(attack_ms), child.exited])
    child.stderrTail()
    await child[Symbol.asyncDispose]()
    delays[name] = Math.round(watched.max_ms())
  }
  console.table(delays)
  expect(Object.entries(delays).filter(([, ms]) => ms > 50)).toEqual([])
})
