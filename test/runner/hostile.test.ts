import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { standardLimits } from '../../src/runner/create-runner.ts'
import type { RunLimits } from '../../src/runner/runner.ts'
import { findProgram } from '../../src/runner/sandbox/find-program.ts'
import { type PackageRegistry, startPackageRegistry } from '../support/package-registry.ts'
import { commandPuppet, puppet } from '../support/puppet.ts'
import { hostPath, lacking, openTestRunner, type TestRunner } from '../support/runner.ts'

const mebibyte = 1024 ** 2
const limits: RunLimits = {
  ...standardLimits,
  memory_bytes: 200 * mebibyte,
  disk_bytes: 20 * mebibyte,
  processes: 40,
  open_files: 64,
}

/** True if a process on this machine has the word in its arguments. */
async function isRunning(word: string): Promise<boolean> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')))
  return lines.some((line) => line.includes(word))
}

const sandboxes = [
  ['bubblewrap', lacking],
  ['podman', findProgram('podman', hostPath) === undefined ? 'podman is not installed' : ''],
] as const

describe.each(sandboxes)('a hostile package under %s', (kind, missing) => {
  beforeEach(({ skip }) => skip(missing !== '', missing))

  let registry: PackageRegistry
  let world: TestRunner
  let secrets: string
  beforeAll(async () => {
    if (missing !== '') return
    registry = await startPackageRegistry()
    registry.publish(puppet)
    world = await openTestRunner(registry, { limits, sandboxes: [kind] })
    expect(await world.runner.sandbox()).toMatchObject({ kind, problem: null })
    secrets = mkdtempSync(join(tmpdir(), 'dragoman-secrets-'))
    writeFileSync(join(secrets, 'key'), 'canary', { mode: 0o644 })
    process.env.DRAGOMAN_CANARY = 'canary-of-the-environment'
  })
  afterAll(async () => {
    delete process.env.DRAGOMAN_CANARY
    if (secrets) rmSync(secrets, { recursive: true, force: true })
    await world?.[Symbol.asyncDispose]()
    await registry?.[Symbol.asyncDispose]()
  })
  const start = () => world.run({ name: 'puppet' })

  test('reads no file of the host, of the gateway or of another package', async () => {
    await using child = await start()
    await using other = await world.run({ name: 'puppet' }, { home: 'other' })
    await commandPuppet(other)((require) => require('node:fs').writeFileSync('/home/package/own', 'x'))
    const attempt = commandPuppet(child)
    const read = (require: NodeJS.Require, _: NodeJS.Process, path: string) =>
      require('node:fs').readFileSync(path, 'utf8').length
    const paths = [
      join(secrets, 'key'),
      join(world.folder, 'homes/other/own'),
      join(world.folder, 'installs'),
      process.execPath.replace(/[^/]*$/, '../package.json'),
      '/etc/shadow',
      '/root/.bashrc',
      `/proc/${process.pid}/environ`,
      '/var/log/dpkg.log',
    ]
    for (const path of paths) expect([path, await attempt(read, path)]).toEqual([path, { error: 'ENOENT' }])
    const list = (require: NodeJS.Require, _: NodeJS.Process, path: string) =>
      require('node:fs').readdirSync(path)
    expect(await attempt(list, '/home')).toEqual({ value: ['package'] })
    expect(await attempt(list, '/etc/ssl')).toEqual({ value: ['certs'] })
  })

  test('sees neither the environment nor the processes of the gateway', async () => {
    await using child = await start()
    const seen = await commandPuppet(child)((require) => {
      const fs = require('node:fs')
      const ids: string[] = fs.readdirSync('/proc').filter((name: string) => /^\d+$/.test(name))
      const text = (path: string) => {
        try {
          return fs.readFileSync(path, 'latin1')
        } catch {
          return ''
        }
      }
      return ids.map((id) =>
        ['environ', 'cmdline', 'maps', 'mountinfo'].map((file) => text(`/proc/${id}/${file}`)).join('\n'),
      )
    })
    const processes = seen.value as string[]
    expect(processes.length).toBeLessThanOrEqual(3)
    const all = processes.join('\n')
    expect(all).toContain('puppet.js')
    expect(all).not.toContain('canary')
    expect(all).not.toContain('DRAGOMAN')
    expect(all).not.toContain(secrets)
  })

  test('has no rights, and gets none', async () => {
    await using child = await start()
    const attempt = commandPuppet(child)
    const status = (await attempt((require) => require('node:fs').readFileSync('/proc/self/status', 'utf8')))
      .value as string
    expect(status).toMatch(/^CapEff:\s+0+$/m)
    expect(status).toMatch(/^CapPrm:\s+0+$/m)
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m)
    if (process.getuid?.() === 0) {
      const { value } = await attempt((_, process) => [
        process.getuid!(),
        process.getgid!(),
        process.getgroups!(),
      ])
      expect((value as number[])[0]).toBeGreaterThan(60_000)
    }
    const write = (require: NodeJS.Require, _: NodeJS.Process, path: string) =>
      require('node:fs').writeFileSync(path, 'x')
    for (const path of [
      '/package/x',
      '/usr/x',
      '/etc/x',
      '/x',
      '/opt/node/bin/node',
      '/proc/sys/kernel/hostname',
    ]) {
      expect([path, (await attempt(write, path)).error]).toEqual([
        path,
        expect.stringMatching(/EROFS|EACCES|EPERM|ETXTBSY/),
      ])
    }
    const run = (require: NodeJS.Require, _: NodeJS.Process, command: string[]) =>
      require('node:child_process').spawnSync(command[0]!, command.slice(1)).status
    expect(await attempt(run, ['mount', '-t', 'tmpfs', 'none', '/home'])).not.toEqual({ value: 0 })
    expect(await attempt(run, ['unshare', '--net', 'true'])).not.toEqual({ value: 0 })
    expect(await attempt(run, ['su', '-c', 'true'])).not.toEqual({ value: 0 })
    const kill = (_: NodeJS.Require, process: NodeJS.Process, pid: number) => process.kill(pid, 'SIGKILL')
    expect((await attempt(kill, process.pid)).error).toMatch(/ESRCH/)
  })

  test('traces no process', async () => {
    await using child = await start()
    const trace =
      'import ctypes; l = ctypes.CDLL(None, use_errno=True); print([l.ptrace(16, p, 0, 0) for p in (1,)])'
    const attempt = commandPuppet(child)
    // In a container process 1 is the package itself.
    const { value } =
      kind === 'bubblewrap'
        ? await attempt(
            (require, _, code) =>
              require('node:child_process').spawnSync('/usr/bin/python3', ['-c', code]).stdout?.toString(),
            trace,
          )
        : {}
    // Process 1 belongs to the sandbox; without a user id of its own, the package may trace itself.
    if (value && process.getuid?.() === 0) expect(value).toBe('[-1]\n')
    const memory = (require: NodeJS.Require, _: NodeJS.Process, path: string) =>
      require('node:fs').openSync(path, 'r+')
    expect(await attempt(memory, `/proc/${process.pid}/mem`)).toEqual({ error: 'ENOENT' })
  })

  test('reaches no address: loopback of the host, metadata, names', async () => {
    const server = createServer((socket) => socket.end('reached')).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.on('listening', resolve))
    const abstract = createServer((socket) => socket.end('reached')).listen(`\0dragoman-${process.pid}`)
    await using child = await start()
    const attempt = commandPuppet(child)
    const dial = (require: NodeJS.Require, _: NodeJS.Process, target: object) =>
      new Promise((resolve) => {
        const socket = require('node:net').connect(target)
        socket
          .on('connect', () => resolve('connected'))
          .on('error', (error: NodeJS.ErrnoException) => resolve(error.code))
      })
    const { port } = server.address() as AddressInfo
    try {
      expect(await attempt(dial, { port, host: '127.0.0.1' })).toEqual({ value: 'ECONNREFUSED' })
      expect(await attempt(dial, { path: `\0dragoman-${process.pid}` })).toEqual({ value: 'ECONNREFUSED' })
      for (const host of ['169.254.169.254', '1.1.1.1', '10.0.0.1', 'fd00:ec2::254']) {
        expect([host, await attempt(dial, { port: 80, host })]).toEqual([host, { value: 'ENETUNREACH' }])
      }
      const look = (require: NodeJS.Require) => require('node:dns/promises').lookup('example.com')
      expect((await attempt(look)).error).toMatch(/ENOTFOUND|EAI_AGAIN/)
      const resolve = (require: NodeJS.Require) => require('node:dns/promises').resolve4('example.com')
      expect((await attempt(resolve)).error).toMatch(/ECONNREFUSED|ENOTFOUND|ETIMEOUT/)
      const open = (require: NodeJS.Require) =>
        new Promise((done) => {
          const own = require('node:net')
            .createServer()
            .listen(0, '0.0.0.0', () => done((own.address() as AddressInfo).port))
        })
      const opened = (await attempt(open)).value as number
      const reached = await new Promise((done) => {
        connect(opened, '127.0.0.1')
          .on('connect', () => done(true))
          .on('error', () => done(false))
      })
      expect(reached).toBe(false)
    } finally {
      server.close()
      abstract.close()
    }
  })

  test('leaves no daemon behind, nor a folder or group of its own', async () => {
    const word = `daemon-${process.pid}`
    const code = `setInterval(() => {}, 1000) // ${word}`
    const fork = (require: NodeJS.Require, process: NodeJS.Process, code: string) => {
      const options = { detached: true, stdio: 'ignore' } as const
      require('node:child_process').spawn(process.execPath, ['-e', code], options).unref()
      require('node:child_process')
        .spawn('setsid', ['sh', '-c', `trap "" TERM HUP; sleep 1000; ${code}`], options)
        .unref()
    }
    {
      await using child = await start()
      await commandPuppet(child)(fork, code)
      await expect.poll(() => isRunning(word)).toBe(true)
    }
    expect(await isRunning(word)).toBe(false)
    await using exits = await start()
    const attempt = commandPuppet(exits)
    await attempt(fork, code)
    void attempt((_, process) => process.exit(0)).catch(() => {})
    expect((await exits.exited).reason).toBe('exited')
    expect(await isRunning(word)).toBe(false)
    expect((await readdir(world.folder)).filter((name) => name.startsWith('work-'))).toEqual([])
  })

  test('that eats memory is ended', async () => {
    await using child = await start()
    void commandPuppet(child)(() => {
      const blocks: Buffer[] = []
      for (;;) blocks.push(Buffer.alloc(8 * 1024 * 1024, 1))
    }).catch(() => {})
    expect(await child.exited).toMatchObject({ reason: 'memory' })
  })

  test('that forks without end gets no more processes', async () => {
    await using child = await start()
    const { value } = await commandPuppet(child)(async (require) => {
      let started = 0
      for (let count = 0; count < 100; count++) {
        const sleeper = require('node:child_process').spawn('sleep', ['100'])
        sleeper.on('error', () => {})
        if (sleeper.pid) started++
      }
      return started
    })
    expect(value).toBeGreaterThan(5)
    expect(value).toBeLessThan(limits.processes)
  })

  test('that fills the disk gets no more of it', async () => {
    await using child = await start()
    const attempt = commandPuppet(child)
    const fill = (require: NodeJS.Require, _: NodeJS.Process, path: string) => {
      const fs = require('node:fs')
      const block = Buffer.alloc(1024 * 1024, 1)
      for (let count = 0; count < 1000; count++) fs.appendFileSync(path, block)
    }
    for (const path of ['/tmp/file', '/dev/shm/file', '/home/package/file']) {
      expect([path, (await attempt(fill, path)).error]).toEqual([path, expect.stringMatching(/ENOSPC|EFBIG/)])
    }
    const files = (require: NodeJS.Require) => {
      const fs = require('node:fs')
      const block = Buffer.alloc(1024 * 1024, 1)
      for (let count = 0; count < 25; count++) fs.writeFileSync(`/home/package/${count}`, block)
    }
    await attempt(files)
    expect(await child.exited).toMatchObject({ reason: 'disk' })
    expect(statSync(join(world.folder, 'homes/home')).isDirectory()).toBe(true)
    await rmSync(join(world.folder, 'homes/home'), { recursive: true, force: true })
  })

  test('that opens files without end gets no more', async () => {
    await using child = await start()
    const { value } = await commandPuppet(child)((require) => {
      const opened: number[] = []
      try {
        for (;;) opened.push(require('node:fs').openSync('/dev/null'))
      } catch (error) {
        return [opened.length, (error as NodeJS.ErrnoException).code]
      }
    })
    expect(value).toEqual([expect.any(Number), 'EMFILE'])
    expect((value as number[])[0]).toBeLessThan(limits.open_files)
  })
})
