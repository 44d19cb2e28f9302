import type { EntryDetail } from '../../schemas/card.ts'
import type { Principal } from '../../schemas/scope.ts'
import type { SearchIndex } from '../search/search-index.ts'
import { type Committed, createEditor, type EditorOptions } from './editor.ts'
import { createFinder } from './finder.ts'
import type { Follower } from './follower.ts'
import { importLines } from './importer.ts'
import type { Site } from './site.ts'
import { createViews } from './view.ts'

export interface RegistryOptions extends EditorOptions {
  readonly index: SearchIndex
  readonly follower: Follower
  readonly site: () => Site
}

/** The registry's domain: what the registry agent's actions do. A write answers once the index has applied it. */
export function createRegistry(options: RegistryOptions) {
  const { store, index, follower, site } = options
  const views = createViews(site)
  const finder = createFinder(store.read, index, follower, views)
  const editor = createEditor(options)

  async function settled(work: Promise<Committed>, caller: Principal | null): Promise<EntryDetail> {
    const { id, revision } = await work
    await follower.caughtUp(revision)
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
      await follower.caughtUp(revision)
    },
    async importLines(lines: readonly string[], first: number) {
      const { report, revision } = await importLines(options, lines, first)
      await follower.caughtUp(revision)
      return report
    },
  }
}

export type Registry = ReturnType<typeof createRegistry>
