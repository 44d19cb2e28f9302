import { lstat, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { run, temporaryFolder } from '../support/command.ts'
import { mountSmallDisk } from '../support/small-disk.ts'

const publication = {
  package_name: 'com.example.moved',
  name: 'Moved',
  description: 'Lived elsewhere before.',
  endpoints: [{ protocol: 'a2a', url: 'https://example.com/a2a' }],
}

async function makeRegistry(data: string): Promise<void> {
  await (await openSqliteStore(join(data, 'registry.sqlite')))[Symbol.asyncDispose]()
}

test('a registry is exported from one folder and imported into another, whole or not at all', async () => {
  await using folder = await temporaryFolder()
  const [from, to] = [{ DRAGOMAN_DATA: join(folder.path, 'a') }, { DRAGOMAN_DATA: join(folder.path, 'b') }]
  const [file, again, cut] = ['export.jsonl', 'again.jsonl', 'cut.jsonl'].map((name) =>
    join(folder.path, name),
  ) as [string, string, string]
  await writeFile(join(folder.path, 'agent.json'), JSON.stringify(publication))
  const published = await run(['publish', join(folder.path, 'agent.json'), '--live', '--json'], from)
  expect(published.code, published.stderr).toBe(0)

  {
    await using store = await openSqliteStore(join(from.DRAGOMAN_DATA, 'registry.sqlite'))
    await store.settings.set('said', 'what some \u2028 and \u2029 take for the end of a line')
  }
  const exported = await run(['export', file, '--json'], from)
  expect(exported.code, exported.stderr).toBe(0)
  const { revision, rows } = JSON.parse(exported.stdout)
  expect((await stat(file)).mode & 0o777).toBe(0o600)

  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
  expect(lines).toHaveLength(rows + 2)
  const changed = join(folder.path, 'changed.jsonl')
  await writeFile(cut, lines.slice(0, -2).join('\n'))
  await writeFile(changed, lines.join('\n').replace('Lived elsewhere', 'Lived nowhere'))
  const spoilt = await Promise.all([cut, changed].map((item) => run(['import', item], to)))
  expect(spoilt[0]?.stderr).toContain('It is incomplete.')
  expect(spoilt[1]?.stderr).toContain('Its checksum does not match.')

  const imported = await run(['import', file, '--json'], to)
  expect(imported.code, imported.stderr).toBe(0)
  expect(imported.stderr).toContain(
    `Now copy the folder keys/ of the source to ${join(to.DRAGOMAN_DATA, 'keys')}.`,
  )
  expect(JSON.parse(imported.stdout)).toMatchObject({ revision, rows })
  await run(['export', again], to)
  const [head, ...rest] = (await readFile(again, 'utf8')).trimEnd().split('\n')
  expect(JSON.parse(head ?? '')).toMatchObject({ revision })
  expect(rest.slice(0, -1)).toEqual(lines.slice(1, -1))

  const found = await run(['search', 'moved', '--json'], to)
  expect(JSON.parse(found.stdout).agents[0]).toMatchObject({ package_name: 'com.example.moved' })
  const refused = await run(['import', file], to)
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('--replace') })
  expect((await run(['import', file, '--replace'], to)).code).toBe(0)
  const remote = await run(['export', file], { ...to, DRAGOMAN_URL: 'http://127.0.0.1:9' })
  expect(remote).toMatchObject({ code: 2, stderr: expect.stringContaining('DRAGOMAN_URL') })
})

test('an export of a folder without a registry fails and makes none: a backup would be empty', async () => {
  await using folder = await temporaryFolder()
  const DRAGOMAN_DATA = join(folder.path, 'mistyped')
  const exported = await run(['export', join(folder.path, 'backup.jsonl')], { DRAGOMAN_DATA })
  expect(exported).toMatchObject({
    code: 4,
    stderr: expect.stringContaining(`There is no registry in ${DRAGOMAN_DATA}.`),
  })
  expect(await readdir(folder.path)).toEqual([])
})

test('an export goes to the file behind a link, and refuses what is no file', async () => {
  await using folder = await temporaryFolder()
  const environment = { DRAGOMAN_DATA: join(folder.path, 'data') }
  const [file, link] = [join(folder.path, 'export.jsonl'), join(folder.path, 'link')]
  await writeFile(file, '')
  await symlink(file, link)
  await makeRegistry(environment.DRAGOMAN_DATA)
  expect((await run(['export', link], environment)).code).toBe(0)
  expect((await lstat(link)).isSymbolicLink()).toBe(true)
  expect((await readFile(file, 'utf8')).length).toBeGreaterThan(0)
  const refused = { code: 2, stderr: expect.stringContaining(`${folder.path} is not a regular file.`) }
  expect(await run(['export', folder.path], environment)).toMatchObject(refused)
})

test('an export into a folder that does not exist names the folder, and makes nothing', async () => {
  await using folder = await temporaryFolder()
  const environment = { DRAGOMAN_DATA: join(folder.path, 'data') }
  const missing = join(folder.path, 'no/such')
  const { code, stderr } = await run(['export', join(missing, 'folder.jsonl')], environment)
  expect([code, stderr]).toEqual([2, expect.stringContaining(`There is no folder ${missing}.`)])
  expect(await readdir(folder.path)).toEqual([])
  await writeFile(join(folder.path, 'file'), '')
  const inFile = await run(['export', join(folder.path, 'file/export.jsonl')], environment)
  expect([inFile.code, inFile.stderr]).toEqual([2, expect.stringContaining('/file is not a folder.')])
})

test('an export to a full disk names its file, and leaves none', async ({ skip }) => {
  await using folder = await temporaryFolder()
  await using disk = (await mountSmallDisk(1)) ?? skip('No disk can be mounted here.')
  await disk.fill()
  const file = join(disk.path, 'export.jsonl')
  await makeRegistry(folder.path)
  const { code, stderr } = await run(['export', file], { DRAGOMAN_DATA: folder.path })
  expect(code).toBe(1)
  expect(stderr).toContain(`The disk is full: ${file} cannot be written.`)
  expect(await readdir(disk.path)).toEqual(['ballast'])
})
