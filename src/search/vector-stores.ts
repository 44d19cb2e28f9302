import { Failure } from '../../schemas/failure.ts'
import type { Pieces, Sections } from '../common/sections.ts'
import type { LanceVectorStoreOptions } from './vectors/lance/lance-vector-store.ts'
import {
  createMemoryVectorStore,
  type MemoryVectorStore,
  type MemoryVectorStoreOptions,
} from './vectors/memory/memory-vector-store.ts'
import type { VectorStore } from './vectors/vector-store.ts'
import { VectorStoreError } from './vectors/vector-store-error.ts'

/** The vector store in memory. It throws Failure instead of the VectorStoreError of the engine. */
export function createVectorsInMemory(options: MemoryVectorStoreOptions): MemoryVectorStore {
  const store = createMemoryVectorStore(options)
  return withFailures(store, {
    save: (write: (pieces: Pieces) => Promise<void>) => store.save(write),
    restore: (saved: Sections) => store.restore(saved),
  })
}

/** The vector store on disk, with the errors of `createVectorsInMemory`. LanceDB is loaded only here. */
export async function openVectorsOnDisk(options: LanceVectorStoreOptions): Promise<VectorStore> {
  const { openLanceVectorStore } = await import('./vectors/lance/lance-vector-store.ts')
  return withFailures(await openLanceVectorStore(options).catch(rethrow), {})
}

function withFailures<More extends object>(store: VectorStore, more: More): VectorStore & More {
  return {
    ...more,
    get applied_revision() {
      return store.applied_revision
    },
    apply: (changes, revision) => store.apply(changes, revision).catch(rethrow),
    nearest: (vector, filter, limit, signal) => store.nearest(vector, filter, limit, signal).catch(rethrow),
    compare: (vector, ids, signal) => store.compare(vector, ids, signal).catch(rethrow),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  }
}

function rethrow(thrown: unknown): never {
  if (!(thrown instanceof VectorStoreError)) throw thrown
  const { code, message, retry_after_s, hint } = thrown
  const details = {
    ...(retry_after_s !== undefined && { retry_after_s }),
    ...(hint !== undefined && { hint }),
  }
  throw new Failure(code, message, details, thrown)
}
