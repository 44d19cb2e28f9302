import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { privateFolder } from '../../common/private-file.ts'
import { openSections, type Pieces, type Sections, writeSections } from '../../common/sections.ts'
import { SerialQueue } from '../../common/serial-queue.ts'
import type { Store } from '../../store/store.ts'

/** A snapshot of derived data on disk; with it, a start does not derive the data again. */
interface Snapshot {
  /** The last snapshot, if it is complete, of this format and of this store. */
  read(): Promise<Sections | undefined>
  /** Replaces the snapshot atomically. A snapshot is optional, so a fault is only reported. */
  write(revision: number, pieces: Pieces): Promise<void>
}

/** Identifies a store at a revision, so that derived data of another or a restored store does not match. */
export async function storeAt(store: Store, format: string, revision: number): Promise<string> {
  const [change] = revision > 0 ? await store.changes(revision - 1, 1) : []
  return JSON.stringify([format, revision, change ?? null])
}

/** Restores derived data from a snapshot, and closes it. Returns its revision; a fault is only reported. */
export async function restoreFrom(
  saved: Sections | undefined,
  derived: Pick<Savable, 'applied_revision' | 'restore'>,
  onError: (fault: unknown) => void,
): Promise<number> {
  try {
    await using sections = saved
    if (sections) await derived.restore(sections)
  } catch (fault) {
    onError(fault)
  }
  return derived.applied_revision
}

/** Writes a snapshot if at least `min` changes were applied since the last one. */
export type Keep = (min: number) => Promise<void>

interface Savable {
  readonly applied_revision: number
  save(write: (pieces: Pieces) => Promise<void>): Promise<void>
  restore(saved: Sections): Promise<void>
}

/**
 * Snapshots are written one after another. `restoring` resolves with the revision of the last one, once it is restored;
 * until then there is nothing to write.
 */
export function createKeep(
  snapshot: Snapshot,
  derived: Pick<Savable, 'applied_revision' | 'save'>,
  restoring: Promise<number> = Promise.resolve(derived.applied_revision),
): Keep {
  const turns = new SerialQueue()
  let savedRevision: number | undefined
  void restoring.then((revision) => {
    savedRevision = revision
  })
  return (min) =>
    turns.take(async () => {
      // What was purged must leave the files.
      if (min === 0) await restoring
      if (savedRevision === undefined || derived.applied_revision - savedRevision < min) return
      await derived.save((pieces) => {
        savedRevision = derived.applied_revision
        return snapshot.write(savedRevision, pieces)
      })
    })
}

/**
 * A snapshot in the files at `path`. `format` names the code that wrote it: a snapshot of another format is not read.
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

  async function isCurrent(sections: Sections): Promise<boolean> {
    const origin = await sections.text('origin')
    const [, revision] = JSON.parse(origin) as [string, number]
    const latest = await store.read.latest()
    if (revision > latest) {
      onError(storeBehind(path, revision, latest))
      onLater()
      return false
    }
    // What was purged after the snapshot must not come back from it.
    if (revision < (await store.retention.prunedRevision())) return false
    return origin === (await originAt(revision))
  }

  return {
    async read() {
      let sections: Sections | undefined
      try {
        sections = await openSections(path)
        if (sections && (await isCurrent(sections))) return sections
      } catch (fault) {
        onError(fault)
      }
      await sections?.[Symbol.asyncDispose]()
      return undefined
    },
    async write(revision, pieces) {
      try {
        await mkdir(dirname(path), { mode: privateFolder }).catch(() => {})
        await writeSections(path, withOrigin(pieces, await originAt(revision)))
      } catch (fault) {
        onError(fault)
      }
    },
  }
}

function* withOrigin(pieces: Pieces, origin: string): Pieces {
  yield ['origin', origin]
  yield* pieces
}

function storeBehind(path: string, revision: number, latest: number): Error {
  return new Error(
    `The store is at revision ${latest}, and ${path} was derived from it at revision ${revision}: changes that were acknowledged are missing. Unless you restored an older backup, restore the latest one.`,
  )
}
