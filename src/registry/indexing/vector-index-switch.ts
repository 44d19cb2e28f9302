import type { Meaning } from '../../search/index/meaning.ts'
import type { Store } from '../../store/store.ts'
import type { VectorIndex } from './vector-index.ts'

/** The serving model, and the progress of the model that will replace it. */
interface VectorProgress {
  readonly model: string
  readonly applied_revision: number
  readonly embedded: number
  readonly next?: { readonly model: string; readonly applied_revision: number; readonly embedded: number }
}

/** The serving vector index, and the index that replaces it once it holds every entry. */
export interface VectorIndexSwitch extends AsyncDisposable {
  /** Resolves once the serving index holds all changes that were committed at the start. */
  readonly ready: Promise<void>
  readonly meaning: Meaning
  /** True since a fault until the serving index holds all changes again. */
  readonly is_failing: boolean
  caughtUp(revision: number): Promise<void>
  progress(): VectorProgress
  /** Writes the snapshots anew. */
  saveSnapshots(): Promise<void>
}

interface VectorIndexSwitchOptions<Settings> {
  readonly store: Store
  /** The model of the configuration. */
  readonly configured: Settings
  /** The fallback model, which is built in. */
  readonly standby: Settings
  /** Throws Failure if the model cannot be loaded. */
  open(settings: Settings): Promise<VectorIndex>
  /** Called once the model of the configuration serves alone. */
  onAlone?(model: string): Promise<void>
  onError(fault: unknown): void
}

/** The setting of the store with the model of the last complete index, under the name that databases have. */
const servedSetting = 'dense_arm'

/**
 * Opens the configured vector index. If it has never held every entry of this store, it embeds them in the
 * background while the previous index, or the fallback model, serves. Throws if the configured index cannot be opened.
 */
export async function openVectorIndexSwitch<Settings>(
  options: VectorIndexSwitchOptions<Settings>,
): Promise<VectorIndexSwitch> {
  const { store, configured, standby, open, onAlone, onError } = options
  const target = await open(configured)
  const before = await store.settings.get(servedSetting)
  let serving = target
  if (!sameSettings(configured, standby) && before !== JSON.stringify(configured))
    serving = await openBefore()

  async function openBefore(): Promise<VectorIndex> {
    if (before !== undefined) {
      try {
        return await open(JSON.parse(before) as Settings)
      } catch (fault) {
        onError(fault)
      }
    }
    return await open(standby)
  }

  /** Makes the target serve once it holds every entry. */
  async function takeOver(): Promise<void> {
    await target.tailer.filled
    if (ended) return
    await store.settings.set(servedSetting, JSON.stringify(configured))
    const old = serving
    serving = target
    if (old !== target) await old[Symbol.asyncDispose]()
    await onAlone?.(target.model)
  }

  let ended = false
  const ready = serving.ready
  const takingOver = takeOver().catch(onError)
  return {
    ready,
    get meaning() {
      return serving.meaning
    },
    get is_failing() {
      return serving.tailer.is_failing
    },
    caughtUp: (revision) => serving.tailer.caughtUp(revision),
    async saveSnapshots() {
      await Promise.all([...new Set([serving, target])].map(({ saveSnapshot }) => saveSnapshot(0)))
    },
    progress() {
      const next = serving === target ? undefined : progressOf(target)
      return { ...progressOf(serving), ...(next && { next }) }
    },
    async [Symbol.asyncDispose]() {
      ended = true
      await target[Symbol.asyncDispose]()
      await takingOver
      if (serving !== target) await serving[Symbol.asyncDispose]()
    },
  }
}

function progressOf({ model, embedded, tailer }: VectorIndex) {
  return { model, applied_revision: tailer.applied_revision, embedded }
}

function sameSettings(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right)
}
