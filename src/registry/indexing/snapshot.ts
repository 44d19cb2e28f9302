import { existsSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { privateFile, privateFolder } from '../../common/private-file.ts'
import { openSections, type Parts, packSections, type Sections } from '../../common/sections.ts'
import type { Store } from '../../store/store.ts'

/** A snapshot of derived data on disk; with it, a start does not derive the data again. */
interface Snapshot {
  /** The last snapshot, if it is complete, of this format and of this store. */
  read(): Promise<Sections | undefined>
  /** Replaces the snapshot atomically. A snapshot is optional, so a fault is only reported. */
  write(revision: number, parts: Parts): Promise<void>
}

/** Identifies a store at a revision, so that derived data of another or a restored store does not match. */
export async function storeAt(store: Store, format: string, revision: number): Promise<string> {
  const [change] = revision > 0 ? await store.changes(revision - 1, 1) : []
  return JSON.stringify([format, revision, change ?? null])
}

/** Makes a value from a snapshot. If that fails, reports the fault and makes an empty value. */
export function restored<T>(
  saved: Sections | undefined,
  make: (saved: Sections | undefined) => T,
  onError: (fault: unknown) => void,
): T {
  try {
    return make(saved)
  } catch (fault) {
    if (!saved) throw fault
    onError(fault)
    return make(undefined)
  }
}

/** Writes a snapshot if at least `min` changes were applied since the last one. */
export type Keep = (min: number) => Promise<void>

interface Savable {
  readonly applied_revision: number
  save(): Parts | Promise<Parts>
}

export function createKeep(snapshot: Snapshot, derived: Savable): Keep {
  let savedRevision = derived.applied_revision
  return async (min) => {
    if (derived.applied_revision - savedRevision < min) return
    const parts = await derived.save()
    savedRevision = derived.applied_revision
    await snapshot.write(savedRevision, parts)
  }
}

/**
 * A snapshot in the file at `path`. `format` names the code that wrote it: a snapshot of another format is not read.
 * `onError` is called for a file that is damaged or cannot be written, and before `onLater`, which is called for a
 * snapshot of a later revision than that of the store.
 */
export function createSnapshot(
  path: string,
  format: string,
  store: Store,
  onError: (fault: unknown) => void,
  onLater: () => void = () => {},
): Snapshot {
  const originAt = (revision: number) => storeAt(store, format, revision)

  return {
    async read() {
      if (!existsSync(path)) return undefined
      try {
        const sections = openSections(path)
        const origin = sections.text('origin')
        const [, revision] = JSON.parse(origin) as [string, number]
        const latest = await store.read.latest()
        if (revision > latest) {
          onError(storeBehind(path, revision, latest))
          onLater()
          return undefined
        }
        // What was purged after the snapshot must not come back from it.
        if (revision < (await store.retention.prunedRevision())) return undefined
        return origin === (await originAt(revision)) ? sections : undefined
      } catch (fault) {
        onError(fault)
        return undefined
      }
    },
    async write(revision, parts) {
      const temporary = `${path}.${process.pid}`
      try {
        await mkdir(dirname(path), { mode: privateFolder }).catch(() => {})
        const content = packSections({ ...parts, origin: await originAt(revision) })
        await writeFile(temporary, content, { mode: privateFile })
        await rename(temporary, path)
      } catch (fault) {
        onError(fault)
        await rm(temporary, { force: true }).catch(() => {})
      }
    },
  }
}

function storeBehind(path: string, revision: number, latest: number): Error {
  return new Error(
    `The store is at revision ${latest}, and ${path} was derived from it at revision ${revision}: changes that were acknowledged are missing. Unless you restored an older backup, restore the latest one.`,
  )
}
