import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { copyFile, cp, mkdir, open, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { createLogger } from '../../src/telemetry/log.ts'
import { command, run, temporaryFolder } from '../support/command.ts'
import { startGateway } from '../support/gateway.ts'
import { run as runProcess } from '../support/processes.ts'
import { publication } from '../support/registry.ts'

const database = 'registry.sqlite'

/** A data folder that a gateway has closed. */
async function closedFolder() {
  const folder = await temporaryFolder()
  await (await startGateway({ DRAGOMAN_DATA: folder.path }))[Symbol.asyncDispose]()
  return folder
}

async function overwrite(path: string, position: number, length: number): Promise<void> {
  await using file = await open(path, 'r+')
  await file.write(Buffer.alloc(length, 0xff), 0, length, position)
}

function startLog() {
  const lines: string[] = []
  return { lines, log: createLogger('info', { write: (line: string) => void lines.push(line) }) }
}

describe('a start over a broken file says which file it is, what is wrong and what to do', () => {
  const faults: [string, (data: string) => Promise<unknown>, RegExp, RegExp][] = [
    [
      'a database that is none',
      (data) => writeFile(join(data, database), 'This is a letter. '.repeat(500)),
      /registry\.sqlite is not a database/,
      /Restore it from a backup/,
    ],
    [
      'a damaged database',
      (data) => overwrite(join(data, database), 100, 400),
      /registry\.sqlite is damaged/,
      /Restore it from a backup/,
    ],
    [
      'a folder in the place of the database',
      async (data) => {
        await rm(join(data, database))
        await mkdir(join(data, database))
      },
      /registry\.sqlite cannot be written/,
      /Let the user of the gateway/,
    ],
    [
      'keys that are no JSON',
      (data) => writeFile(join(data, 'keys', 'signing.json'), '{ not JSON'),
      /keys\/signing\.json does not hold signing keys/,
      /Restore keys\/ from a backup/,
    ],
    [
      'keys that are empty',
      (data) => writeFile(join(data, 'keys', 'signing.json'), ''),
      /keys\/signing\.json does not hold signing keys/,
      /Restore keys\/ from a backup/,
    ],
    [
      'a secret key that is cut off',
      (data) => writeFile(join(data, 'keys', 'secret'), 'AAAA'),
      /keys\/secret does not hold a key of 32 bytes/,
      /Restore keys\/ from a backup/,
    ],
    [
      'a lost secret key',
      (data) => rm(join(data, 'keys', 'secret')),
      /keys\/secret is missing: it decrypts the credentials/,
      /Restore it from a backup/,
    ],
    [
      'a file in the place of the data folder',
      async (data) => {
        await rm(data, { recursive: true })
        await writeFile(data, '')
      },
      /a file is where a folder should be/,
      /Set DRAGOMAN_DATA to a folder/,
    ],
  ]
  test.each(faults)('%s', async (_, damage, message, remedy) => {
    await using folder = await closedFolder()
    await damage(folder.path)
    const { code, stdout, stderr } = await run(['list'], { DRAGOMAN_DATA: folder.path })
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain(folder.path)
    expect(stderr).toMatch(message)
    expect(stderr).toMatch(remedy)
    expect(stderr).not.toMatch(/unexpected|wrong here| {4}at /)
    const { lines, log } = startLog()
    await expect(startGateway({ DRAGOMAN_DATA: folder.path }, { log })).rejects.toThrow(message)
    // The failure says everything; a stack beside it would only hide it.
    expect(lines.filter((line) => JSON.parse(line).msg === 'start')).toEqual([])
  })

  test('an export and an import say so too', async () => {
    await using folder = await closedFolder()
    await writeFile(join(folder.path, database), 'This is a letter. '.repeat(500))
    const { stderr } = await run(['export', join(folder.path, 'x')], { DRAGOMAN_DATA: folder.path })
    expect(stderr).toMatch(/registry\.sqlite is not a database/)
  })

  const unshare = ['--user', '--map-root-user', '--mount']
  const canMount = spawnSync('unshare', [...unshare, 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0
  const search = (script: string, data: string) =>
    runProcess('unshare', [...unshare, 'sh', '-c', script, 'sh', data, process.execPath, command], {
      DRAGOMAN_DATA: data,
    })

  test.skipIf(!canMount)('a full disk', async () => {
    await using folder = await temporaryFolder()
    const script = 'mount -t tmpfs -o size=64k none "$1" && exec "$2" "$3" list'
    await using searching = search(script, folder.path)
    const { code, stderr } = await searching.ended
    expect(code).toBe(1)
    expect(stderr).toMatch(/^The disk is full: \S+ cannot be written\. \(storage_full\)/)
    expect(stderr).toContain('Make room on its disk')
  })

  test.skipIf(!canMount)('a disk that is mounted read-only', async () => {
    await using folder = await closedFolder()
    const script = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && exec "$2" "$3" list'
    await using searching = search(script, folder.path)
    const { code, stderr } = await searching.ended
    expect(code).toBe(1)
    expect(stderr).toMatch(/cannot be written\. \(not_configured\)/)
    expect(stderr).toContain('mount the disk for writing')
  })

  test.skipIf(!canMount)('an export from a disk that is mounted read-only', async () => {
    await using folder = await closedFolder()
    await using other = await temporaryFolder()
    const [from, file] = [folder.path, join(other.path, 'registry.jsonl')]
    const mounted = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && exec "$2" "$3"'
    const exporting = async () => {
      await using exported = search(`${mounted} export ${file} --json`, from)
      return await exported.ended
    }
    const first = await exporting()
    expect(first, first.stderr).toMatchObject({ code: 0 })
    expect(JSON.parse(first.stdout).rows).toBeGreaterThan(3)
    const checked = await run(['import', file], { DRAGOMAN_DATA: join(other.path, 'data') })
    expect(checked, checked.stderr).toMatchObject({ code: 0 })
    // A write-ahead log that SQLite can neither replay nor leave out.
    await writeFile(join(from, `${database}-wal`), 'changes')
    expect(await exporting()).toMatchObject({ code: 1, stderr: expect.stringMatching(/registry\.sqlite/) })
  })
})

/** How long a test waits for what happens beside it. */
const checkWait = { timeout: 20_000 }

describe('after an unclean end', () => {
  /** The files of a gateway as a power failure leaves them. */
  async function abandonedFolder() {
    const folder = await temporaryFolder()
    await using home = await startGateway()
    const token = await home.token('owner')
    await home.request('POST', '/api/agents/publish', { body: publication('com.example.one'), token })
    for (const name of await readdir(home.data)) {
      if (name.startsWith(database)) await copyFile(join(home.data, name), join(folder.path, name))
    }
    await cp(join(home.data, 'keys'), join(folder.path, 'keys'), { recursive: true })
    return folder
  }

  test('the database is checked, and the log says that it has no damage', async () => {
    await using folder = await abandonedFolder()
    const first = startLog()
    const gateway = await startGateway({ DRAGOMAN_DATA: folder.path }, { log: first.log })
    await using other = await startGateway({ DRAGOMAN_DATA: folder.path }, { log: first.log })
    await other.gateway.ready
    expect((await other.request('GET', '/readyz')).json).toMatchObject({ status: 'ready', reasons: [] })
    const checked = () => first.lines.filter((line) => line.includes('its check found no damage'))
    await expect.poll(checked, checkWait).toHaveLength(1)
    await gateway[Symbol.asyncDispose]()
    expect(checked()).toHaveLength(1)
  })

  test('damage is an error in the log, and the gateway is degraded', async () => {
    await using folder = await closedFolder()
    const path = join(folder.path, database)
    const writer = new DatabaseSync(path)
    writer.exec("create table junk (text text); insert into junk values ('junk')")
    const { page } =
      writer.prepare("select rootpage as page from sqlite_master where name = 'junk'").get() ?? {}
    const { page_size } = writer.prepare('pragma page_size').get() ?? {}
    writer.exec('pragma wal_checkpoint(truncate); insert into note (name, value) values (1, 2)')
    await using damaged = await temporaryFolder()
    for (const name of [database, `${database}-wal`]) {
      await copyFile(join(folder.path, name), join(damaged.path, name))
    }
    await cp(join(folder.path, 'keys'), join(damaged.path, 'keys'), { recursive: true })
    writer.close()
    await overwrite(join(damaged.path, database), (Number(page) - 1) * Number(page_size), 100)
    const { lines, log } = startLog()
    await using home = await startGateway({ DRAGOMAN_DATA: damaged.path }, { log })
    // The check runs beside the gateway.
    await expect.poll(() => lines.join(''), checkWait).toMatch(/"damage":\[.*registry\.sqlite is damaged/)
    expect(await home.request('GET', '/readyz')).toMatchObject({
      status: 200,
      json: { status: 'degraded', reasons: ['store_damaged'] },
    })
  })
})

test('a store that knows fewer changes than its index is an error in the log, and degraded until the next start', async () => {
  await using folder = await closedFolder()
  await using backup = await temporaryFolder()
  const path = join(folder.path, database)
  await copyFile(path, join(backup.path, database))
  {
    await using home = await startGateway({ DRAGOMAN_DATA: folder.path })
    const token = await home.token('owner')
    await home.request('POST', '/api/agents/publish', { body: publication('com.example.one'), token })
  }
  await copyFile(join(backup.path, database), path)
  {
    const { lines, log } = startLog()
    await using home = await startGateway({ DRAGOMAN_DATA: folder.path }, { log })
    await home.gateway.ready
    expect(await home.request('GET', '/readyz')).toMatchObject({
      status: 200,
      json: { status: 'degraded', reasons: ['store_behind_index'] },
    })
    expect(lines.join('')).toMatch(/changes that were acknowledged are missing/)
    expect((await home.request('GET', '/public/agents?q=wiki')).json.total).toBeGreaterThan(0)
  }
  await using home = await startGateway({ DRAGOMAN_DATA: folder.path })
  await home.gateway.ready
  expect((await home.request('GET', '/readyz')).json).toMatchObject({ status: 'ready' })
})

describe('a secret key that is not the one of the registry', () => {
  async function start(data: string) {
    const { lines, log } = startLog()
    await using home = await startGateway({ DRAGOMAN_DATA: data }, { log })
    const { reasons } = (await home.request('GET', '/readyz')).json
    return { reasons, log: lines.join('') }
  }

  test('is an error in the log, and degraded until the right one is back', async () => {
    await using folder = await closedFolder()
    const secret = join(folder.path, 'keys', 'secret')
    const own = await readFile(secret)
    await writeFile(secret, randomBytes(32).toString('base64url'))
    const other = await start(folder.path)
    expect(other.reasons).toEqual(['secret_key_differs'])
    expect(other.log).toMatch(/"level":50,.*keys\/secret is not the key that encrypted the credentials/)
    await writeFile(secret, own)
    expect(await start(folder.path)).toEqual({ reasons: [], log: '' })
    await writeFile(secret, randomBytes(32).toString('base64url'))
    expect((await start(folder.path)).reasons).toEqual(['secret_key_differs'])
  })

  test('is that of the registry after a second start with it: the earlier one is lost', async () => {
    await using folder = await closedFolder()
    await writeFile(join(folder.path, 'keys', 'secret'), randomBytes(32).toString('base64url'))
    expect((await start(folder.path)).reasons).toEqual(['secret_key_differs'])
    const second = await start(folder.path)
    expect(second.reasons).toEqual([])
    expect(second.log).toContain('the secret key of the last start is that of the registry from now on')
    expect(await start(folder.path)).toEqual({ reasons: [], log: '' })
  })

  test('fails a check of doctor, which changes nothing', async () => {
    await using folder = await closedFolder()
    const other = { DRAGOMAN_DATA: folder.path, DRAGOMAN_SECRET_KEY: randomBytes(32).toString('base64') }
    for (const _ of ['once', 'again']) {
      const { code, stdout } = await run(['doctor'], other)
      expect(code).toBe(1)
      expect(stdout).toContain('FAIL secret key: DRAGOMAN_SECRET_KEY is not the key that encrypted')
    }
    expect((await run(['doctor'], { DRAGOMAN_DATA: folder.path })).code).toBe(0)
  }, 60_000)
})
