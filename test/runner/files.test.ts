import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { firstLine, readInstalled, readInstalledJson, writeShared } from '../../src/runner/packages/files.ts'

describe('a folder that a job in the sandbox has written', () => {
  let folder: string
  let secret: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'dragoman-files-'))
    mkdirSync(join(folder, 'package'))
    secret = join(folder, 'secret')
    writeFileSync(secret, 'secret of the host', { mode: 0o600 })
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))
  const inFolder = (name: string) => join(folder, 'package', name)
  const refused = { code: 'not_installable' }

  test('is written to where it has a link, and the target of the link stays as it is', async () => {
    symlinkSync(secret, inFolder('requirements.txt'))
    await writeShared(inFolder('requirements.txt'), 'new')
    expect(readFileSync(secret, 'utf8')).toBe('secret of the host')
    expect(statSync(secret).mode & 0o777).toBe(0o600)
    expect(readFileSync(inFolder('requirements.txt'), 'utf8')).toBe('new')
  })

  test('gives no file outside of it, by a link or by a folder that is one', async () => {
    symlinkSync(secret, inFolder('package.json'))
    symlinkSync(folder, inFolder('up'))
    for (const path of ['package.json', 'up/secret', '../secret']) {
      await expect(readInstalled(join(folder, 'package'), path, 1000)).rejects.toMatchObject(refused)
      expect(await firstLine(join(folder, 'package'), path)).toBe('')
    }
  })

  test('gives no pipe, which would wait without end, no huge file, and no text of one that is not JSON', async () => {
    execFileSync('mkfifo', [inFolder('pipe')])
    writeFileSync(inFolder('huge'), 'x'.repeat(2000))
    writeFileSync(inFolder('text'), 'hello')
    const read = (path: string) => readInstalled(join(folder, 'package'), path, 1000)
    await expect(read('pipe')).rejects.toMatchObject(refused)
    await expect(read('huge')).rejects.toMatchObject(refused)
    await expect(read('missing')).rejects.toMatchObject(refused)
    expect(await read('text')).toBe('hello')
    await expect(readInstalledJson(join(folder, 'package'), 'text', 1000)).rejects.toMatchObject({
      ...refused,
      message: 'The file text of the package is not JSON.',
    })
  })
})
