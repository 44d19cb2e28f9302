import fc from 'fast-check'
import { describe, it } from 'vitest'
import type { VectorStore } from '../../../src/search/vectors/vector-store.ts'
import { Pair } from './oracle.ts'
import { expectExact, gone, put, unit } from './support.ts'

const east = unit(1, 0)

/** Filters with arbitrary values, against brute force, `runs` times in a store that `open` gives. */
export function hostileFilters(
  name: string,
  open: (dimensions: number) => Promise<VectorStore>,
  { runs }: { readonly runs: number },
): void {
  describe(`a filter of ${name}`, () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc
        .array(
          fc.constantFrom(
            "'",
            "''",
            '"',
            '\\',
            '%',
            '_',
            '--',
            '/*',
            '*/',
            ';',
            '\n',
            '\r',
            '\0',
            '\u0001',
            '`',
            ')',
            '(',
            ' or ',
            'true',
            "' or '1'='1",
            'null',
            'É',
            'ß',
            'İ',
            '🙂',
            '{}',
            '$1',
            '?',
            ',',
            '[',
            ']',
            '\\u0027',
          ),
          { maxLength: 6 },
        )
        .map((parts) => parts.join('')),
    )

    it('compares hostile values literally', { timeout: 120_000 }, async () => {
      const pair = new Pair(await open(2))
      await using _ = pair.store
      const value = hostile.filter((text) => text.isWellFormed())
      const row = fc.record({
        owner: fc.option(value),
        target: fc.option(value.map((text) => text.toLowerCase())),
        category: fc.option(value.map((text) => text.toLowerCase())),
        tags: fc.array(
          value.map((text) => text.toLowerCase()),
          { maxLength: 3 },
        ),
      })
      await fc.assert(
        fc.asyncProperty(
          fc.array(row, { minLength: 1, maxLength: 8 }),
          fc.array(value, { maxLength: 2 }),
          async (rows, others) => {
            await pair.apply([...pair.oracle.entries.keys()].map(gone))
            await pair.apply(rows.map((fields, index) => put(`${index}`, [east], fields)))
            const filters = [
              ...rows.flatMap(({ owner, target, category, tags }) => [
                { ...(owner !== null && { owner }), ...(category !== null && { category }) },
                {
                  ...(target !== null && {
                    target: target.toUpperCase().toLowerCase() === target ? target.toUpperCase() : target,
                  }),
                },
                { tags },
              ]),
              ...others.flatMap((text) => [
                { owner: text },
                { category: text },
                { target: text },
                { tags: [text] },
              ]),
              { tags: others },
            ]
            for (const filter of filters) await expectExact(pair, east, filter, 10)
          },
        ),
        { numRuns: runs },
      )
    })
  })
}
