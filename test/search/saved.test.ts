import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import type { Pieces } from '../../src/common/sections.ts'
import { createMemoryIndex } from '../../src/search/index/memory-index.ts'
import type { EntryChange } from '../../src/search/search-index.ts'
import { createMemoryVectorStore } from '../../src/search/vectors/memory/memory-vector-store.ts'
import type { VectorChange } from '../../src/search/vectors/vector-store.ts'
import { rounds } from '../support/rounds.ts'
import { throughFiles } from '../support/through-files.ts'
import { ask, restoredIndex, someDocument, someQuery } from './support/documents.ts'

const { signal } = new AbortController()
const folder = mkdtempSync(join(tmpdir(), 'dragoman-saved-'))
afterAll(() => rmSync(folder, { recursive: true }))

const changes: fc.Arbitrary<EntryChange[]> = fc.array(
  fc
    .tuple(someDocument, fc.boolean())
    .map(([document, gone]) => ({ id: document.id, document: gone ? null : document })),
  { maxLength: 12 },
)

const unit = fc
  .tuple(fc.double({ min: -1, max: 1, noNaN: true }), fc.double({ min: -1, max: 1, noNaN: true }))
  .map(([x, y]) => {
    const length = Math.hypot(x, y)
    return length < 1e-3 ? Float32Array.of(0, 0) : Float32Array.of(x / length, y / length)
  })
const vectorChanges: fc.Arbitrary<VectorChange[]> = fc.array(
  fc
    .tuple(someDocument, fc.array(unit, { minLength: 1, maxLength: 4 }), fc.boolean())
    .map(([document, vectors, gone]) => ({
      id: document.id,
      entry: gone ? null : { attributes: document, vectors },
    })),
  { maxLength: 12 },
)

describe('a restored snapshot', () => {
  it('answers like the saved index, also after further changes', async () => {
    await fc.assert(
      fc.asyncProperty(changes, changes, someQuery, async (before, after, query) => {
        const index = createMemoryIndex()
        await index.apply(before, 7)
        await using saved = await throughFiles(folder, index)
        const again = await restoredIndex(saved)
        expect(again.applied_revision).toBe(7)
        // Saved as it was restored, before a search has read it.
        await using savedAgain = await throughFiles(folder, again)
        expect(await ask(await restoredIndex(savedAgain), query)).toEqual(await ask(index, query))
        expect(await ask(again, query)).toEqual(await ask(index, query))
        for (const target of [index, again]) await target.apply(after, 8)
        expect(await ask(again, query)).toEqual(await ask(index, query))
      }),
      { numRuns: rounds(200) },
    )
  })

  it('knows the exact names of its documents', async () => {
    const index = createMemoryIndex()
    const documents = fc.sample(someDocument, 3).map((document, at) => ({
      ...document,
      id: `${at}`,
      state: 'ACTIVE' as const,
      name: `Zeppelin ${at}`,
      package_name: `npm.acme/zeppelin-${at}`,
    }))
    await index.apply(
      documents.map((document) => ({ id: document.id, document })),
      1,
    )
    await using saved = await throughFiles(folder, index)
    const again = await restoredIndex(saved)
    for (const text of ['Zeppelin 1', 'npm.acme/zeppelin-1', '@acme/zeppelin-1']) {
      const found = await ask(again, { text, limit: 3 })
      expect(found).toEqual(await ask(index, { text, limit: 3 }))
      expect(found.hits[0]?.id).toBe('1')
      expect(found.hits[0]?.confidence).toBeGreaterThan(0.9)
    }
    await again.apply([{ id: '1', document: null }], 2)
    await index.apply([{ id: '1', document: null }], 2)
    const query = { text: 'Zeppelin 1', limit: 3 }
    expect(await ask(again, query)).toEqual(await ask(index, query))
  })

  it('of an index whose last document was removed is empty', async () => {
    const index = createMemoryIndex()
    const [document] = fc.sample(someDocument, 1)
    if (!document) throw new Error('There is no sample.')
    await index.apply([{ id: document.id, document }], 1)
    await index.apply([{ id: document.id, document: null }], 2)
    await using saved = await throughFiles(folder, index)
    const again = await restoredIndex(saved)
    expect(again.applied_revision).toBe(2)
    expect(again.lists(document.id)).toBe(false)
  })

  it('answers like the saved vectors, also after further changes', async () => {
    await fc.assert(
      fc.asyncProperty(vectorChanges, vectorChanges, unit, async (before, after, query) => {
        await using store = createMemoryVectorStore({ dimensions: 2 })
        await store.apply(before, 7)
        await using saved = await throughFiles(folder, store)
        await using again = createMemoryVectorStore({ dimensions: 2 })
        await again.restore(saved)
        expect(again.applied_revision).toBe(7)
        for (const target of [store, again]) await target.apply(after.slice(0, 4), 8)
        for (const filter of [{}, { state: 'ACTIVE' as const }, { tags: ['red'] }]) {
          expect(await again.nearest(query, filter, 5, signal)).toEqual(
            await store.nearest(query, filter, 5, signal),
          )
        }
        for (const target of [store, again]) await target.apply(after, 9)
        expect(await again.nearest(query, {}, 9, signal)).toEqual(await store.nearest(query, {}, 9, signal))
      }),
      { numRuns: rounds(100) },
    )
  })

  it('is refused where parts are missing', async () => {
    const index = createMemoryIndex()
    const [document] = fc.sample(someDocument, 1)
    if (!document) throw new Error('There is no sample.')
    await index.apply([{ id: document.id, document }], 1)
    const without = function* (pieces: Pieces): Pieces {
      for (const [part, piece] of pieces) if (part !== 'documents') yield [part, piece]
    }
    await using saved = await throughFiles(folder, {
      save: (write) => index.save((pieces) => write(without(pieces))),
    })
    await expect(restoredIndex(saved)).rejects.toThrow(/no part documents/)
  })

  it('holds no change that is applied while it is written, and the change is applied after it', async () => {
    const [document] = fc.sample(someDocument, 1)
    const change = { id: document!.id, document: document! }
    const index = createMemoryIndex()
    await index.apply([change], 1)
    let applying: Promise<void> | undefined
    await using saved = await throughFiles(folder, {
      save: (write) =>
        index.save(async (pieces) => {
          applying = index.apply([{ id: change.id, document: null }], 2)
          await write(pieces)
          expect(index.applied_revision).toBe(1)
        }),
    })
    await applying
    expect(index.applied_revision).toBe(2)
    expect((await ask(index, { filter: {} })).total).toBe(0)
    expect((await ask(await restoredIndex(saved), { filter: {} })).total).toBe(1)
  })
})
