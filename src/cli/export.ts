import { createHash, randomUUID } from 'node:crypto'
import { open, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { counted } from '../../schemas/counted.ts'
import { Failure } from '../../schemas/failure.ts'
import { version } from '../app/assets.ts'
import { diskFull, isDiskFull } from '../app/start-failure.ts'
import { privateFile } from '../common/private-file.ts'
import { print } from './output.ts'
import { openOwnDump } from './own-store.ts'

/**
 * Writes a consistent snapshot of the registry to a file of JSON lines: a head, one line a row, and an end line with a
 * checksum. The file appears complete or not at all, and only its owner may read it.
 */
export async function exportRegistry(file: string, json: boolean): Promise<void> {
  const target = await targetOf(file)
  await using store = await openOwnDump()
  const part = `${target}.${randomUUID()}.part`
  try {
    const { revision, rows } = await store.dump(async ({ migrations, revision, rows }) => {
      await using handle = await open(part, 'wx', privateFile)
      const hash = createHash('sha256')
      const write = async (lines: string) => {
        hash.update(lines)
        await handle.writeFile(lines)
      }
      let count = 0
      const at = new Date().toISOString()
      await write(`${JSON.stringify({ dragoman: 'export', format: 1, version, at, revision, migrations })}\n`)
      for await (const batch of rows()) {
        await write(batch.map((row) => `${JSON.stringify(row)}\n`).join(''))
        count += batch.length
      }
      await handle.writeFile(`${JSON.stringify({ end: true, rows: count, sha256: hash.digest('hex') })}\n`)
      await handle.sync()
      return { revision, rows: count }
    })
    await rename(part, target)
    print(json ? { file, revision, rows } : `${counted(rows, 'row')} at revision ${revision} in ${file}`)
  } catch (fault) {
    if (!isDiskFull(fault)) throw fault
    throw diskFull(file, fault, 'Make room on its disk, or name a file on another one.')
  } finally {
    await rm(part, { force: true })
  }
}

/** Throws Failure `invalid_request` unless this is a folder, before anything is made. */
async function assertFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => undefined)
  if (found?.isDirectory()) return
  if (found) throw new Failure('invalid_request', `${folder} is not a folder.`)
  throw new Failure('invalid_request', `There is no folder ${folder}.`, {
    hint: 'An export makes no folders: make it first, or name another file.',
  })
}

/** The file behind links, which stay. Throws Failure `invalid_request` for a device or a pipe, which would be replaced. */
async function targetOf(file: string): Promise<string> {
  const found = await stat(file).catch(() => undefined)
  if (!found) {
    await assertFolder(dirname(file))
    return file
  }
  if (found.isFile()) return await realpath(file)
  throw new Failure('invalid_request', `${file} is not a regular file.`, {
    hint: 'An export replaces its file: name a file, such as registry.jsonl.',
  })
}
