import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'

const memory = '/dev/shm'
const enough_bytes = 4 * 2 ** 30

/**
 * Temporary files are in memory where it has room, so that no commit waits for a disk, and are removed after all tests.
 * The tests of `npm run soak` use the disk.
 */
export default function useMemory(): (() => void) | undefined {
  if (process.env.TMPDIR !== undefined || !existsSync(memory)) return
  const { bavail, bsize } = statfsSync(memory)
  if (bavail * bsize < enough_bytes) return
  const folder = mkdtempSync(`${memory}/dragoman-tests-`)
  // PostgreSQL runs as another user.
  chmodSync(folder, 0o711)
  process.env.TMPDIR = folder
  return () => rmSync(folder, { recursive: true, force: true })
}
