import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../../src/app/config.ts'
import { startFailure } from '../../src/app/start-failure.ts'
import { serve } from '../net/support.ts'
import { command, run, temporaryFolder } from '../support/command.ts'
import { run as runProcess } from '../support/processes.ts'

describe('a data folder that cannot be made', () => {
  test.each([
    [['search', 'x']],
    [['publish', '{file}']],
    [['token', 'create', '--sub', 'x']],
    [['keys', 'list']],
  ])('is an error of the configuration for %j, which says what to do', async (args) => {
    await using folder = await temporaryFolder()
    const file = join(folder.path, 'file')
    await writeFile(file, '{}')
    const words = args.map((word) => word.replace('{file}', file))
    const { code, stdout, stderr } = await run(words, { DRAGOMAN_DATA: join(file, 'data') })
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/cannot be made: a file is where a folder should be\. \(not_configured\)/)
    expect(stderr).toContain('Set DRAGOMAN_DATA to a folder')
    expect(stderr).not.toMatch(/internal|logged/)
  })

  test('fails every check of doctor that depends on it', async () => {
    await using folder = await temporaryFolder()
    const file = join(folder.path, 'file')
    await writeFile(file, '')
    const { code, stdout } = await run(['doctor', '--json'], { DRAGOMAN_DATA: join(file, 'data') })
    expect(code).toBe(1)
    const failed = JSON.parse(stdout).checks.filter(({ ok }: { ok: boolean }) => !ok)
    expect(failed.map(({ check }: { check: string }) => check)).toEqual([
      'data folder',
      'store',
      'signing key',
    ])
  })
})

test.each([
  ['keys/signing.json', 'signing key', 'does not hold signing keys', 'Restore keys/ from a backup.'],
  ['registry.sqlite', 'store', 'is not a database', 'Restore it from a backup'],
])('doctor names the damaged file %s once, and says what to do', async (name, check, wrong, remedy) => {
  await using folder = await temporaryFolder()
  const environment = { DRAGOMAN_DATA: folder.path }
  await run(['search', 'wiki'], environment)
  const file = join(folder.path, name)
  await writeFile(file, '{'.repeat(5000))
  const { code, stdout } = await run(['doctor', '--json'], environment)
  const failed = JSON.parse(stdout).checks.filter(({ ok }: { ok: boolean }) => !ok)
  expect([code, failed.map((found: { check: string }) => found.check)]).toEqual([1, [check]])
  for (const text of [file, wrong, remedy]) expect(failed[0].detail).toContain(text)
})

test.skipIf(!existsSync('/proc/self'))(
  'a data folder where the system makes none is an error of the configuration',
  async () => {
    const { code, stdout, stderr } = await run(['search', 'x'], { DRAGOMAN_DATA: '/proc/dragoman/data' })
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/The folder \/proc\/dragoman cannot be made\. \(not_configured\)/)
  },
)

test('a full disk is named where the error of the system names no file', async () => {
  await using folder = await temporaryFolder()
  const fault = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  expect(startFailure(fault, readConfig({ DRAGOMAN_DATA: folder.path }))).toMatchObject({
    code: 'storage_full',
    message: `The disk is full: ${folder.path} cannot be written.`,
    details: { hint: expect.stringContaining('Make room') },
  })
})

test('a second gateway over a data folder says where the first one runs', async () => {
  await using folder = await temporaryFolder()
  const environment = { DRAGOMAN_DATA: folder.path, PORT: '0', DRAGOMAN_RATE_LIMIT: 'off' }
  await using first = runProcess(process.execPath, [command, 'serve'], environment)
  const [, url = ''] = await first.printed(/listening on (\S+)/)
  const { port } = new URL(url)
  const { code, stderr } = await run(['serve'], { ...environment, PORT: port })
  expect(code).toBe(1)
  expect(stderr).toContain(`A gateway already runs over this data folder, at ${url}.`)
  expect(stderr).toContain('another process listens there')
})

test('an unexpected error of a command does not claim to be logged', async () => {
  await using folder = await temporaryFolder()
  const environment = { DRAGOMAN_DATA: folder.path }
  await run(['list'], environment)
  const { code, stderr } = await run(['export', join(folder.path, 'x'.repeat(300))], environment)
  expect([code, stderr.includes('logged')]).toEqual([1, false])
})

test('an import that ends in the middle says how many agents are written, and that it may be repeated', async () => {
  await using folder = await temporaryFolder()
  const file = join(folder.path, 'list.jsonl')
  const line = (index: number) =>
    JSON.stringify({
      packageName: `agent-${index}`,
      name: 'x',
      description: 'x',
      url: 'https://example.com/',
    })
  await writeFile(file, Array.from({ length: 450 }, (_, index) => line(index)).join('\n'))
  let batches = 0
  await using server = await serve((_, response) => {
    batches++
    response.statusCode = batches > 2 ? 507 : 200
    const full = { code: 'storage_full', detail: 'The disk is full; the change was not written.' }
    const report = { created: 200, updated: 0, unchanged: 0, rejected: [] }
    response.end(JSON.stringify(batches > 2 ? full : report))
  })
  const { code, stdout, stderr } = await run(['import', file], { DRAGOMAN_URL: server.origin })
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain('The import ended at line 401: The disk is full; the change was not written.')
  expect(stderr).toContain('400 created, 0 updated, 0 unchanged, 0 left out before line 401.')
  expect(stderr).not.toContain('nothing was written')
})

test('a start without its PostgreSQL says that it waits, retries once, not in a retry, and ends with one message', async () => {
  await using folder = await temporaryFolder()
  await using starting = runProcess(process.execPath, [command, 'serve'], {
    DRAGOMAN_DATA: folder.path,
    DATABASE_URL: 'postgresql://user:secret@127.0.0.1:1/dragoman',
    PORT: '0',
  })
  const { code, stdout, stderr } = await starting.ended
  expect([code, stdout]).toEqual([1, ''])
  const [waiting = '', ...message] = stderr.trimEnd().split('\n')
  expect(JSON.parse(waiting)).toMatchObject({
    reason: expect.stringContaining('connect ECONNREFUSED'),
    msg: 'the start is tried again for up to 15 seconds',
  })
  expect(message).toEqual([
    'PostgreSQL at 127.0.0.1:1/dragoman cannot be used: connect ECONNREFUSED 127.0.0.1:1. (unavailable)',
    '  Start it, or set DATABASE_URL to its address.',
  ])
}, 40_000)

test('a start that waits for an embeddings endpoint says so, and ends at SIGTERM', async () => {
  await using folder = await temporaryFolder()
  await using silent = await serve(() => {})
  await using starting = runProcess(process.execPath, [command, 'serve'], {
    DRAGOMAN_DATA: folder.path,
    DRAGOMAN_EMBEDDER: 'http',
    DRAGOMAN_MODEL: 'm',
    DRAGOMAN_EMBEDDINGS_URL: `${silent.origin}/v1`,
    PORT: '0',
  })
  await starting.printed(/asking the embeddings endpoint/)
  starting.process.kill('SIGTERM')
  expect(await starting.ended).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('A signal ended the gateway.'),
  })
}, 30_000)

test('an import from standard input is the same as from a file', async () => {
  await using folder = await temporaryFolder()
  const input = JSON.stringify({
    packageName: 'piped',
    runtime: 'node',
    name: 'Piped',
    description: 'Comes by a pipe.',
    url: 'https://example.com/',
  })
  const environment = { DRAGOMAN_DATA: folder.path }
  await using importing = runProcess(process.execPath, [command, 'import', '-'], environment, { input })
  expect(await importing.ended).toMatchObject({
    code: 0,
    stdout: '1 created, 0 updated, 0 unchanged, 0 left out\n',
  })
  await using calling = runProcess(
    process.execPath,
    [command, 'call', 'svc.registry', 'search', '-'],
    environment,
    { input: '{"query": "piped"}' },
  )
  expect((await calling.ended).stdout).toContain('npm.piped')
  const file = join(folder.path, 'params.json')
  await writeFile(file, '{"query": "piped"}')
  expect((await run(['call', 'svc.registry', 'search', `@${file}`], environment)).stdout).toContain(
    'npm.piped',
  )
}, 30_000)
