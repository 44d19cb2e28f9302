import { type BigIntStats, closeSync, fstatSync, openSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'

/** A file whose last write is older than this has had none since, if its time of modification is the same. */
const settled_ms = 100

/** A way to see that another connection has committed. */
interface DataVersion extends Disposable {
  /** SQLite's `data_version`: changes with each commit of another connection. */
  read(): number
  /** True once the write-ahead log was removed, as for a restored backup: what this process commits is lost then. */
  isRemoved(): boolean
}

/**
 * Asks SQLite only if the write-ahead log has changed: each commit appends to it, or overwrites it. To ask takes several
 * locks, a tenth of the time of a whole request; to look at the file is one system call. As in Git's index, a time of
 * modification that is as young as the look itself proves nothing, since a second write may share it. Windows may
 * write that time late, so there SQLite is always asked.
 */
export function watchDataVersion(database: DatabaseSync, path: string, clock = Date.now): DataVersion {
  const statement = database.prepare('pragma data_version')
  const ask = () => Number(statement.get()?.data_version)
  if (process.platform === 'win32') return { read: ask, isRemoved: () => false, [Symbol.dispose]() {} }
  // The log has no locks, so that closing it frees none of SQLite's (POSIX frees all of a file's at once).
  const log = openSync(`${path}-wal`, 'r')
  const hasLinks = fstatSync(log).nlink > 0
  let version = ask()
  let settled: BigIntStats | undefined

  return {
    read() {
      const now = fstatSync(log, { bigint: true })
      if (settled && now.mtimeNs === settled.mtimeNs && now.size === settled.size) return version
      // The look comes first: a commit between both is then seen at the next look.
      version = ask()
      settled = Number(now.mtimeMs) + settled_ms < clock() ? now : undefined
      return version
    },
    // Some file systems count no links.
    isRemoved: () => hasLinks && fstatSync(log).nlink === 0,
    [Symbol.dispose]: () => closeSync(log),
  }
}
