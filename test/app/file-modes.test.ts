import { chmod, chown, mkdir, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createLogger } from '../../src/telemetry/log.ts'
import { command, run, temporaryFolder } from '../support/command.ts'
import { startGateway } from '../support/gateway.ts'
import { run as runProcess } from '../support/processes.ts'
import { publication } from '../support/registry.ts'

async function modesIn(folder: string): Promise<Record<string, string>> {
  const names = await readdir(folder, { recursive: true })
  const modes = [folder, ...names.map((name) => join(folder, name))].map(async (path) => {
    const { mode } = await stat(path)
    return [path.slice(folder.length), (mode & 0o777).toString(8)] as const
  })
  return Object.fromEntries(await Promise.all(modes))
}

const isFile = (name: string) => /\.sqlite|signing|secret|words|vectors-/.test(name)
const exposed = (modes: Record<string, string>) =>
  Object.entries(modes).filter(([name, mode]) => mode !== (isFile(name) ? '600' : '700'))

const isRoot = process.getuid?.() === 0

test.skipIf(process.platform === 'win32')('a gateway writes files that only its user may read', async () => {
  await using folder = await temporaryFolder()
  const data = join(folder.path, 'data')
  {
    await using home = await startGateway({ DRAGOMAN_DATA: data })
    const token = await home.token('owner')
    await home.request('POST', '/api/agents/publish', { body: publication('com.example.one'), token })
    await home.gateway.identity.ring.rotate()
    const modes = await modesIn(data)
    expect(Object.keys(modes)).toContain('/registry.sqlite-wal')
    expect(exposed(modes)).toEqual([])
  }
  const modes = await modesIn(data)
  expect(Object.keys(modes)).toContain('/index/words')
  expect(exposed(modes)).toEqual([])
})

test.skipIf(process.platform === 'win32')('a start restricts its files that others may read', async () => {
  await using folder = await temporaryFolder()
  const data = join(folder.path, 'data')
  await (await startGateway({ DRAGOMAN_DATA: data }))[Symbol.asyncDispose]()
  for (const name of Object.keys(await modesIn(data))) await chmod(data + name, isFile(name) ? 0o644 : 0o755)
  await (await startGateway({ DRAGOMAN_DATA: data }))[Symbol.asyncDispose]()
  expect(exposed(await modesIn(data))).toEqual([])
})

test.skipIf(!isRoot)('root runs nothing that would write into the data of another user', async () => {
  await using folder = await temporaryFolder()
  const environment = { DRAGOMAN_DATA: join(folder.path, 'data') }
  await (await startGateway(environment))[Symbol.asyncDispose]()
  const keys = join(environment.DRAGOMAN_DATA, 'keys/signing.json')
  await chown(keys, 65_534, 65_534)
  const backup = join(folder.path, 'backup.jsonl')
  expect((await run(['export', backup], environment)).code).toBe(0)
  for (const name of ['registry.sqlite', 'index'])
    await rm(join(environment.DRAGOMAN_DATA, name), { recursive: true })
  const writing = [['audit'], ['keys', 'rotate'], ['import', backup], ['doctor'], ['serve']]
  for (const line of writing) {
    const { code, stdout, stderr } = await run(line, environment)
    expect(code, stderr).not.toBe(0)
    expect(stdout + stderr).toContain(`${keys} belongs to the user 65534, not to root.`)
  }
  expect((await stat(keys)).uid).toBe(65_534)
  await chown(keys, 0, 0)
  expect((await run(['audit'], environment)).code).toBe(0)
})

test.skipIf(process.platform === 'win32')('a folder that also holds other files keeps its mode', async () => {
  await using folder = await temporaryFolder()
  await writeFile(join(folder.path, 'letter.txt'), '', { mode: 0o644 })
  await chmod(folder.path, 0o755)
  await (await startGateway({ DRAGOMAN_DATA: folder.path }))[Symbol.asyncDispose]()
  const { '': own, '/letter.txt': letter, '/keys': keys } = await modesIn(folder.path)
  expect([own, letter, keys]).toEqual(['755', '644', '700'])
})

test.skipIf(process.platform === 'win32')(
  'a command makes its folder and its files for its user alone',
  async () => {
    await using folder = await temporaryFolder()
    const data = join(folder.path, 'data')
    const script = `umask 000; exec ${process.execPath} ${command} search wiki`
    await using searching = runProcess('sh', ['-c', script], { DRAGOMAN_DATA: data })
    expect((await searching.ended).code).toBe(0)
    expect(exposed(await modesIn(data))).toEqual([])
  },
)

test.skipIf(!isRoot)(
  'keys of another user that others may read end the start and name the file',
  async () => {
    await using folder = await temporaryFolder()
    await (await startGateway({ DRAGOMAN_DATA: folder.path }))[Symbol.asyncDispose]()
    const keys = join(folder.path, 'keys')
    const key = join(keys, 'signing.json')
    await chmod(key, 0o644)
    await chown(key, 12345, 12345)
    await expect(startGateway({ DRAGOMAN_DATA: folder.path })).rejects.toMatchObject({
      code: 'not_configured',
      message: expect.stringContaining(`${key} (mode 644)`),
      details: { hint: expect.stringContaining(`chmod go-rwx ${key}`) },
    })
    const doctor = await run(['doctor'], { DRAGOMAN_DATA: folder.path })
    expect(doctor.code).toBe(1)
    expect(doctor.stdout).toContain(`FAIL files: Others may read ${key}`)
  },
)

test.skipIf(!isRoot)('other files of another user that others may read are an error in the log', async () => {
  await using folder = await temporaryFolder()
  const index = join(folder.path, 'index')
  await mkdir(index, { mode: 0o700 })
  await writeFile(join(index, 'words'), '', { mode: 0o644 })
  await chown(join(index, 'words'), 12345, 12345)
  const lines: string[] = []
  const log = createLogger('error', { write: (line: string) => void lines.push(line) })
  await (await startGateway({ DRAGOMAN_DATA: folder.path }, { log }))[Symbol.asyncDispose]()
  expect(lines.join('')).toContain(`Others may read ${join(index, 'words')} (mode 644)`)
})

test.skipIf(process.platform === 'win32')(
  'keys behind a symbolic link end the start if others may read them',
  async () => {
    await using folder = await temporaryFolder()
    await using elsewhere = await temporaryFolder()
    await (await startGateway({ DRAGOMAN_DATA: folder.path }))[Symbol.asyncDispose]()
    const key = join(folder.path, 'keys', 'signing.json')
    const target = join(elsewhere.path, 'signing.json')
    await rename(key, target)
    await chmod(target, 0o644)
    await symlink(target, key)
    await expect(startGateway({ DRAGOMAN_DATA: folder.path })).rejects.toThrow(
      `Others may read ${key} (mode 644)`,
    )
    await chmod(target, 0o600)
    await (await startGateway({ DRAGOMAN_DATA: folder.path }))[Symbol.asyncDispose]()
  },
)
