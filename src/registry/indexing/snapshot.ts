import { existsSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { openSections, type Parts, packSections, type Sections } from '../../common/sections.ts'
import type { Store } from '../../store/store.ts'

/** Something derived as it lay on the disk at some revision, so that a start need not derive it anew. */
interface Snapshot {
  /** What was written last, where it is whole, of this version and of this store. */
  read(): Promise<Sections | undefined>
  /** Replaces it at once or not at all; nothing of it is needed, so a fault is heard and forgotten. */
  write(revision: number, parts: Parts): Promise<void>
}

/** What was saved, made anew; from nothing where that fails, which is heard. */
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

/** Writes down what is derived where at least so many changes were applied since it was read or written. */
export type Keep = (fewest: number) => Promise<void>

interface Savable {
  readonly applied_revision: number
  save(): Parts | Promise<Parts>
}

export function createKeep(snapshot: Snapshot, derived: Savable): Keep {
  let savedRevision = derived.applied_revision
  return async (fewest) => {
    if (derived.applied_revision - savedRevision < fewest) return
    const parts = await derived.save()
    savedRevision = derived.applied_revision
    await snapshot.write(savedRevision, parts)
  }
}

/**
 * A snapshot in the file at `path`. `format` names the code that made it: what another version derived is not read.
 * `failed` hears of a file that is damaged or cannot be written.
 */
export function createSnapshot(
  path: string,
  format: string,
  store: Store,
  onError: (fault: unknown) => void,
): Snapshot {
  /** Tells this store from another, and from itself restored to an earlier day. */
  async function originAt(revision: number): Promise<string> {
    const [change] = revision > 0 ? await store.changes(revision - 1, 1) : []
    return JSON.stringify([format, revision, change ?? null])
  }

  return {
    async read() {
      if (!existsSync(path)) return undefined
      try {
        const sections = openSections(path)
        const origin = sections.text('origin')
        const [, revision] = JSON.parse(origin) as [string, number]
        return origin === (await originAt(revision)) ? sections : undefined
      } catch (fault) {
        onError(fault)
        return undefined
      }
    },
    async write(revision, parts) {
      const temporary = `${path}.${process.pid}`
      try {
        await mkdir(dirname(path)).catch(() => {})
        await writeFile(temporary, packSections({ ...parts, origin: await originAt(revision) }))
        await rename(temporary, path)
      } catch (fault) {
        onError(fault)
        await rm(temporary, { force: true }).catch(() => {})
      }
    },
  }
}
