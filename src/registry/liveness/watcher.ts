import { setImmediate as turnOfOthers } from 'node:timers/promises'
import type { LivenessStore, Watch } from '../../../schemas/liveness.ts'
import type { Store } from '../../store/store.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'

const note = 'liveness-watched'
const pageSize = 200

/**
 * Updates the liveness store with new, moved and removed agents from the change log. The position in the log is a
 * setting in the store, so that any process continues from there.
 */
export function createWatcher({ read, changes, settings, liveness }: Watched, probesMirrored: boolean) {
  async function step(after: number): Promise<number | undefined> {
    const page = await changes(after, pageSize)
    const last = page.at(-1)
    if (!last) return undefined
    const ids = new Set(page.filter(({ kind }) => kind !== 'liveness').map((change) => change.entry_id))
    const readOne = async (id: string) => await read.entry({ id }, 'pass')
    const found = await Promise.all([...ids].map((id) => readOne(id).catch(() => undefined)))
    const watches = found.flatMap((entry) => entry ?? []).map((entry) => watchOf(entry, probesMirrored))
    if (watches.length > 0) await liveness.watch(watches)
    await settings.set(note, String(last.revision))
    return last.revision
  }

  const seen = async () => Number((await settings.get(note)) ?? 0)

  return {
    isBehind: async () => (await read.revision()) > (await seen()),
    async catchUp(signal: AbortSignal): Promise<void> {
      let after: number | undefined = await seen()
      while (after !== undefined && !signal.aborted) {
        after = await step(after)
        await turnOfOthers()
      }
    },
  }
}

type Watched = Pick<Store, 'read' | 'changes' | 'settings'> & {
  readonly liveness: Pick<LivenessStore, 'watch'>
}

/** Whether an entry is probed, and at which address. Nobody agreed that a mirrored agent without an owner is probed. */
export function watchOf(entry: StoredEntry, probesMirrored: boolean): Watch {
  const { id, manifest_url, endpoints, hosted, deleted, state, suspended } = entry
  const isNowhere = manifest_url === null && endpoints.length === 0
  const address = hosted || deleted || isNowhere ? null : JSON.stringify([manifest_url, endpoints])
  return {
    entry_id: id,
    place: address,
    active: state === 'ACTIVE' && !suspended && (probesMirrored || !isOnlyMirrored(entry)),
  }
}

function isOnlyMirrored({ origin, owner }: StoredEntry): boolean {
  return origin !== null && owner === null
}

/** The first origin that a probe of this address contacts. */
export function originOf(address: string): string {
  const [manifest_url, endpoints] = JSON.parse(address) as [string | null, { url: string }[]]
  return new URL(manifest_url ?? endpoints[0]?.url ?? '').origin
}
