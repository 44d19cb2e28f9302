import { mkdir, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { standardLimits } from '../../src/runner/create-runner.ts'
import { openBubblewrap } from '../../src/runner/sandbox/bubblewrap.ts'
import { findControlGroups } from '../../src/runner/sandbox/control-groups.ts'
import { serve } from '../net/support.ts'
import { type PackageRegistry, startPackageRegistry } from '../support/package-registry.ts'
import { commandPuppet, puppet } from '../support/puppet.ts'
import { hostPath, lacking, openTestRunner, type TestRunner } from '../support/runner.ts'

const never = new AbortController().signal

describe.skipIf(lacking)('a start', () => {
  let registry: PackageRegistry
  let world: TestRunner
  beforeAll(async () => {
    registry = await startPackageRegistry()
    world = await openTestRunner(registry)
    registry.publish(puppet)
  })
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]()
    await registry?.[Symbol.asyncDispose]()
  })

  test('passes arguments and variables on as they are', async () => {
    const args = ['; touch /tmp/x', '$(id)', '`id`', '--', "a'b", '']
    await using child = await world.run({ name: 'puppet' }, { args, env: { TOKEN: '$HOME "x" \n' } })
    const attempt = commandPuppet(child)
    expect(await attempt((_, process) => process.argv.slice(2))).toEqual({ value: args })
    const { value } = await attempt((_, process) => process.env)
    expect(value).toMatchObject({ TOKEN: '$HOME "x" \n', HOME: '/home/package' })
    const own =
      'HOME LANG NODE_USE_SYSTEM_CA NO_UPDATE_NOTIFIER PATH PWD PYTHONDONTWRITEBYTECODE TMPDIR TOKEN'
    expect(Object.keys(value as object).sort()).toEqual(own.split(' '))
  })

  test('leaves nothing behind once its HOME is forgotten, nor do those of callers of the same approval', async () => {
    const write = (require: NodeJS.Require) => require('node:fs').writeFileSync('/home/package/note', 'mine')
    const names = ['left', 'left-caller', 'left.volumes', 'lefty']
    for (const home of ['left', 'left-caller', 'lefty']) {
      await using child = await world.run({ name: 'puppet' }, { home })
      await commandPuppet(child)(write)
    }
    await mkdir(join(world.folder, 'homes/left.volumes'))
    const running = await world.run({ name: 'puppet' }, { home: 'left-caller' })
    await world.runner.forgetHome('left')
    expect(await running.exited).toMatchObject({ reason: 'disposed' })
    const left = await readdir(join(world.folder, 'homes'))
    expect(names.filter((name) => left.includes(name))).toEqual(['lefty'])
    await world.runner.forgetHome('never-started')
  })

  test.skipIf(process.getuid?.() !== 0)('that fails leaves no temporary folder', async () => {
    const temporary = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('dragoman-run-'))
    const sandbox = await openBubblewrap(hostPath, findControlGroups())
    const before = await temporary()
    const started = sandbox.start({
      command: ['true'],
      env: {},
      package: { folder: '/nowhere', writable: false },
      home: '/nowhere',
      identity: 'nobody',
      reads: {},
      limits: standardLimits,
    })
    await expect(started).rejects.toMatchObject({ code: 'ENOENT' })
    expect(await temporary()).toEqual(before)
  })

  test('keeps HOME between the processes of an approval, and apart from that of another', async () => {
    const write = (require: NodeJS.Require) => require('node:fs').writeFileSync('/home/package/note', 'mine')
    const read = (require: NodeJS.Require) => require('node:fs').readFileSync('/home/package/note', 'utf8')
    {
      await using first = await world.run({ name: 'puppet' }, { home: 'a' })
      await commandPuppet(first)(write)
    }
    await using again = await world.run({ name: 'puppet' }, { home: 'a' })
    await using other = await world.run({ name: 'puppet' }, { home: 'b' })
    expect(await commandPuppet(again)(read)).toEqual({ value: 'mine' })
    expect(await commandPuppet(other)(read)).toEqual({ error: 'ENOENT' })
  })

  test.each([
    [{ env: { NODE_OPTIONS: '--require /x' } }, 'invalid_request', /NODE_OPTIONS decides/],
    [{ env: { LD_PRELOAD: 'x' } }, 'invalid_request', /LD_PRELOAD/],
    [{ env: { PATH: '/x' } }, 'invalid_request', /PATH/],
    [{ env: { PYTHONPATH: '/x' } }, 'invalid_request', /PYTHONPATH/],
    [{ env: { 'A=B': 'x' } }, 'invalid_request', /not the name/],
    [{ env: { A: 'x\0y' } }, 'invalid_request', /null character/],
    [{ args: ['x\0y'] }, 'invalid_request', /null character/],
    [{ home: '../x' }, 'invalid_request', /id of an approval/],
    [{ lock: 'b'.repeat(64) }, 'wrong_state', /is not installed/],
  ])('of %j is refused', async (request, code, message) => {
    const resolved = await world.runner.resolve(
      { registry_type: 'npm', identifier: 'puppet', version: '1.0.0' },
      never,
    )
    const { lock } = await world.runner.install(resolved, { scripts: false }, never)
    const whole = { resolved, lock, scripts: false, home: 'home', args: [], env: {}, hosts: [], ...request }
    await expect(world.runner.start(whole, never)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    })
  })

  test('of another integrity than the installed one is refused', async () => {
    const resolved = await world.runner.resolve(
      { registry_type: 'npm', identifier: 'puppet', version: '1.0.0' },
      never,
    )
    const { lock } = await world.runner.install(resolved, { scripts: false }, never)
    const other = { ...resolved, integrity: 'sha512-other' }
    const request = { resolved: other, lock, scripts: false, home: 'home', args: [], env: {}, hosts: [] }
    await expect(world.runner.start(request, never)).rejects.toMatchObject({ code: 'precondition_failed' })
  })

  test('shows the end of standard error without secrets', async () => {
    await using child = await world.run({ name: 'puppet' }, { env: { TOKEN: 'very-secret-value' } })
    const attempt = commandPuppet(child)
    await attempt(async (_, process) => {
      for (let line = 0; line < 2000; line++) process.stderr.write(`${line} with ${process.env.TOKEN}\n`)
    })
    await expect.poll(() => child.stderrTail()).toContain('1999 with [TOKEN]')
    expect(child.stderrTail()).not.toContain('very-secret')
    expect(child.stderrTail().length).toBeLessThanOrEqual(8 * 1024)
  })

  test('reports how the process ended', async () => {
    await using child = await world.run({ name: 'puppet' })
    void commandPuppet(child)((_, process) => process.exit(3)).catch(() => {})
    expect(await child.exited).toEqual({ code: 3, signal: null, reason: 'exited' })
    const { type, ...ended } = world.events.at(-1)!
    expect({ type, ended }).toMatchObject({ type: 'ended', ended: { package: 'npm puppet@1.0.0' } })
  })

  test('with hosts reaches these by the proxy, and no other', async () => {
    await using server = await serve((request, response) => response.end(`reached ${request.headers.host}`))
    const { port } = server
    await using child = await world.run({ name: 'puppet' }, { hosts: [`127.0.0.1:${port}`] })
    const attempt = commandPuppet(child)
    const get = async (_: NodeJS.Require, __: NodeJS.Process, url: string) => await (await fetch(url)).text()
    expect(await attempt(get, `http://127.0.0.1:${port}/`)).toEqual({ value: `reached 127.0.0.1:${port}` })
    expect(await attempt(get, 'http://169.254.169.254/latest/')).toHaveProperty('error')
    expect(await attempt(get, `http://localhost:${port}/`)).toHaveProperty('error')
    expect(world.events).toContainEqual({
      type: 'refused_host',
      package: 'npm puppet@1.0.0',
      host: '169.254.169.254:80',
    })
    const plain = await attempt(
      (require, process, { port, path }) =>
        new Promise((resolve) => {
          const { port: proxy } = new URL(process.env.HTTP_PROXY!)
          const options = { port: proxy, path: `http://127.0.0.1:${port}${path}`, agent: false }
          require('node:http').get(options, (answer: { statusCode?: number }) => resolve(answer.statusCode))
        }),
      { port, path: '/' },
    )
    expect(plain).toEqual({ value: 200 })
    const direct = await attempt(
      (require, _, port) =>
        new Promise((resolve) => {
          require('node:net')
            .connect(port, '127.0.0.1')
            .on('error', (error: NodeJS.ErrnoException) => resolve(error.code))
        }),
      port,
    )
    expect(direct).toEqual({ value: 'ECONNREFUSED' })
  })
})
