import type { EntryDetail } from '../../schemas/card.ts'
import type { Principal } from '../../schemas/scope.ts'
import type { SearchIndex } from '../search/search-index.ts'
import type { DenseArms } from './dense-arms.ts'
import { type Committed, createEditor, type EditorOptions } from './editor.ts'
import { createFinder } from './finder.ts'
import type { Follower } from './follower.ts'
import { importLines } from './importer.ts'
import type { Site } from './site.ts'
import { createViews } from './view.ts'

export interface RegistryOptions extends EditorOptions {
  readonly index: SearchIndex
  readonly follower: Follower
  /** Without it, words alone decide. */
  readonly dense?: Pick<DenseArms, 'ready' | 'caughtUp' | 'progress'>
  readonly site: () => Site
}

/** The registry's domain: what the registry agent's actions do. A write answers once the index has applied it. */
export function createRegistry(options: RegistryOptions) {
  const { store, index, follower, dense, site } = options
  const views = createViews(site)
  const finder = createFinder({ reader: store.read, index, follower, dense, views })
  const editor = createEditor(options)

  /** What is written is found at once by whoever asks this process, by its words and by its meaning. */
  async function applied(revision: number): Promise<void> {
    await Promise.all([follower.caughtUp(revision), dense?.caughtUp(revision)])
  }

  async function settled(work: Promise<Committed>, caller: Principal | null): Promise<EntryDetail> {
    const { id, revision } = await work
    await applied(revision)
    return await finder.get(id, caller)
  }

  return {
    ...finder,
    publish: (...[publication, caller, signal]: Parameters<typeof editor.publish>) =>
      settled(editor.publish(publication, caller, signal), caller),
    update: (...[change, publication, caller]: Parameters<typeof editor.update>) =>
      settled(editor.update(change, publication, caller), caller),
    goLive: (change: Parameters<typeof editor.move>[0], caller: Principal | null) =>
      settled(editor.move(change, 'STAGE', 'ACTIVE', caller), caller),
    unpublish: (change: Parameters<typeof editor.move>[0], caller: Principal | null) =>
      settled(editor.move(change, 'ACTIVE', 'STAGE', caller), caller),
    async remove(...[change, caller]: Parameters<typeof editor.remove>) {
      const { revision } = await editor.remove(change, caller)
      await applied(revision)
    },
    async importLines(lines: readonly string[], first: number) {
      const { report, revision } = await importLines(options, lines, first)
      await applied(revision)
      return report
    },
  }
}

export type Registry = ReturnType<typeof createRegistry>
