import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/command.ts'

const unshare = ['--user', '--map-root-user', '--mount']
const canMount = spawnSync('unshare', [...unshare, 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0
const program = resolve(import.meta.dirname, 'full-disk.ts')

test.skipIf(!canMount).each(['memory', 'lance'])(
  'a disk that fills up while agents are indexed costs no agent that was listed, with vectors in %s',
  async (where) => {
    await using folder = await temporaryFolder()
    const script = 'mount -t tmpfs -o size=6m none "$1" && exec "$2" "$3" "$1" "$4"'
    const shell = ['sh', '-c', script, 'sh', folder.path, process.execPath, program, where]
    const { stdout, stderr } = spawnSync('unshare', [...unshare, ...shell], {
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
