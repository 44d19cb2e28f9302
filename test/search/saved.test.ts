import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { openSections, type Parts, packSections, type Sections } from '../../src/common/sections.ts'
import { createMemoryIndex } from '../../src/search/index/memory-index.ts'
import type { EntryChange } from '../../src/search/search-index.ts'
import { createMemoryVectorStore } from '../../src/search/vectors/memory/memory-vector-store.ts'
import type { VectorChange } from '../../src/search/vectors/vector-store.ts'
import { rounds } from '../support/rounds.ts'
import { ask, someDocument, someQuery } from './support/documents.ts'

const { signal } = new AbortController()
const folder = mkdtempSync(join(tmpdir(), 'dragoman-saved-'))
let files = 0
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

/** Parts as a file returns them. */
function throughFile(parts: Parts): Sections {
  const path = join(folder, String(++files))
  writeFileSync(path, packSections(parts))
  return openSections(path)
}

describe('a restored snapshot', () => {
  it('answers like the saved index, also after further changes', async () => {
    await fc.assert(
      fc.asyncProperty(changes, changes, someQuery, async (before, after, query) => {
        const index = createMemoryIndex()
        await index.apply(before, 7)
        const again = createMemoryIndex({ saved: throughFile(index.save()) })
        expect(again.applied_revision).toBe(7)
        expect(await ask(again, query)).toEqual(await ask(index, query))
        for (const target of [index, again]) await target.apply(after, 8)
        expect(await ask(again, query)).toEqual(await ask(index, query))
      }),
      { numRuns: rounds(200) },
    )
  })

  it('answers like the saved vectors, also after further changes', async () => {
    await fc.assert(
      fc.asyncProperty(vectorChanges, vectorChanges, unit, async (before, after, query) => {
        await using store = createMemoryVectorStore({ dimensions: 2 })
        await store.apply(before, 7)
        await using again = createMemoryVectorStore({
          dimensions: 2,
          saved: throughFile(await store.save()),
        })
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

  it('is refused where parts are missing', () => {
    const { documents: _, ...rest } = createMemoryIndex().save()
    expect(() => createMemoryIndex({ saved: throughFile(rest) })).toThrow(/no part documents/)
  })
})
