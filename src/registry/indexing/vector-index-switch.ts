import type { Meaning } from '../../search/index/meaning.ts'
import type { Store } from '../../store/store.ts'
import type { VectorIndex } from './vector-index.ts'

/** Which model serves, and how far another that is to take over has come. */
export interface DenseProgress {
  readonly model: string
  readonly applied_revision: number
  readonly embedded: number
  readonly next?: { readonly model: string; readonly applied_revision: number; readonly embedded: number }
}

/** The dense arm that serves, and the one that takes over once it knows every entry. */
export interface VectorIndexSwitch extends AsyncDisposable {
  /** Resolves once the arm that serves knows what was committed at the start. */
  readonly ready: Promise<void>
  readonly meaning: Meaning
  caughtUp(revision: number): Promise<void>
  progress(): DenseProgress
}

interface VectorIndexSwitchOptions<Settings> {
  readonly store: Store
  /** What the operator asks for. */
  readonly configured: Settings
  /** What always works and embeds at once. */
  readonly standby: Settings
  /** Throws Failure where the model cannot be had. */
  open(settings: Settings): Promise<VectorIndex>
  onError(fault: unknown): void
}

const note = 'dense_arm'

/**
 * Opens the arm that is wanted. Where it has never known every entry of this store, it embeds them in the background
 * while the one that did before serves, or the standby. Throws where the one wanted cannot be opened.
 */
export async function openVectorIndexSwitch<Settings>(
  options: VectorIndexSwitchOptions<Settings>,
): Promise<VectorIndexSwitch> {
  const { store, configured, standby, open, onError } = options
  const target = await open(configured)
  const before = await store.settings.get(note)
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

  /** The target serves from the moment it knows every entry. */
  async function takeOver(): Promise<void> {
    await target.follower.ready
    if (ended) return
    await store.settings.set(note, JSON.stringify(configured))
    if (serving === target) return
    const old = serving
    serving = target
    await old[Symbol.asyncDispose]()
  }

  let ended = false
  const ready = serving.ready
  const takingOver = takeOver().catch(onError)
  return {
    ready,
    get meaning() {
      return serving.meaning
    },
    caughtUp: (revision) => serving.follower.caughtUp(revision),
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

function progressOf({ model, embedded, follower }: VectorIndex) {
  return { model, applied_revision: follower.applied_revision, embedded }
}

function sameSettings(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right)
}
