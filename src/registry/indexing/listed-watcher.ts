import type { SearchIndex } from '../../search/search-index.ts'
import type { Derived } from './index-tailer.ts'

/** Watches the set of listed agents. */
export interface Listed {
  /** The index through which changes must be applied to be noticed. */
  readonly index: Derived
  /** Calls the listener at each change of the set until the returned function is called. */
  onChange(listener: () => void): () => void
}

export function watchListed(index: Derived & Pick<SearchIndex, 'lists'>): Listed {
  const listeners = new Set<() => void>()
  return {
    index: {
      get applied_revision() {
        return index.applied_revision
      },
      async apply(changes, revision) {
        const before = changes.map(({ id }) => index.lists(id))
        await index.apply(changes, revision)
        if (changes.every(({ id }, at) => index.lists(id) === before[at])) return
        for (const listener of listeners) listener()
      },
      ...(index.discard && { discard: () => index.discard?.() ?? Promise.resolve() }),
    },
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
