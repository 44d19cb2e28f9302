import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/command.ts'
import { canMount, onSmallDisk } from '../support/small-disk.ts'

const program = resolve(import.meta.dirname, 'full-disk.ts')

test.skipIf(!canMount).each(['memory', 'lance'])(
  'a disk that fills up while agents are indexed costs no agent that was listed, with vectors in %s',
  async (where) => {
    await using folder = await temporaryFolder()
    const { stdout, stderr } = spawnSync('unshare', onSmallDisk(folder.path, 6, program, where), {
      encoding: 'utf8',
      timeout: 60_000,
    })
    expect(stdout, stderr).not.toBe('')
    const { code, listed, total, after_restart } = JSON.parse(stdout)
    expect(code).toBe('storage_full')
    expect(listed).toBeGreaterThan(0)
    expect([total, after_restart]).toEqual([listed, listed])
  },
  60_000,
)
