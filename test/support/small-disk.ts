import { spawnSync } from 'node:child_process'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryFolder } from './command.ts'

/** A folder on a small disk that tests can fill. */
export interface SmallDisk extends AsyncDisposable {
  readonly path: string
  /** Fills the disk to the last byte. */
  fill(): Promise<void>
  /** Removes the data that `fill` wrote. */
  free(): Promise<void>
}

/** A disk in memory with this many megabytes; undefined if none can be mounted. */
export async function mountSmallDisk(megabytes: number): Promise<SmallDisk | undefined> {
  await using stack = new AsyncDisposableStack()
  const { path } = stack.use(await temporaryFolder())
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'none', path])
  if (mounted.status !== 0) return undefined
  stack.defer(() => void spawnSync('umount', ['--lazy', path]))
  const ballast = join(path, 'ballast')
  const mounting = stack.move()
  return {
    path,
    async fill() {
      await using file = await open(ballast, 'a')
      for (const size of [65_536, 512, 1]) {
        while (await writes(file, Buffer.alloc(size)));
      }
    },
    free: () => rm(ballast),
    [Symbol.asyncDispose]: () => mounting.disposeAsync(),
  }
}

const unshare = ['--user', '--map-root-user', '--mount']

/** Whether a user without rights can mount a disk for the programs that it starts. */
export const canMount =
  spawnSync('unshare', [...unshare, 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0

/** Arguments of `unshare`: a program of Node over a disk in memory at `path`, its first argument. */
export function onSmallDisk(path: string, megabytes: number, program: string, ...more: string[]): string[] {
  const script = `mount -t tmpfs -o size=${megabytes}m none "$2" && exec "$0" "$@"`
  return [...unshare, 'sh', '-c', script, process.execPath, program, path, ...more]
}

async function writes(file: { write(bytes: Buffer): Promise<{ bytesWritten: number }> }, bytes: Buffer) {
  try {
    return (await file.write(bytes)).bytesWritten === bytes.length
  } catch (fault) {
    if (fault instanceof Error && 'code' in fault && fault.code === 'ENOSPC') return false
    throw fault
  }
}
