import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Named, NameIndex } from '../../src/search/index/name-index.ts'
import { rounds } from '../support/rounds.ts'

function indexOf(names: readonly (readonly [name: string, packageName?: string])[]): NameIndex {
  return indexOfNamed(
    names.map(([name, package_name], slot) => ({
      ...unnamed,
      name,
      package_name: package_name ?? `p${slot}`,
    })),
  )
}

function indexOfNamed(named: readonly Named[], weightOf?: (slot: number) => number): NameIndex {
  const index = new NameIndex((slot) => named[slot] ?? unnamed, weightOf)
  for (const slot of named.keys()) index.add(slot)
  return index
}

const unnamed = { name: '', package_name: '', verification_level: 'unclaimed' } as const

describe('the completion of a name', () => {
  it('prefers the start of a name, then of a word of it, then of the package name, then what is inside', async () => {
    const index = indexOf([
      ['Reweatherer'],
      ['Town', 'io.github.weather-town'],
      ['Big Weather'],
      ['Weather of the world'],
      ['Weather'],
      ['Mail'],
    ])
    expect(await index.complete('wea', 10)).toEqual([4, 3, 2, 1, 0])
    expect(await index.complete('w', 10)).toEqual([4, 3, 2])
    expect(await index.complete('wea', 2)).toEqual([4, 3])
    expect(await index.complete('weather-', 10)).toEqual([4, 3, 2, 1, 0])
    expect(await index.complete('github weat', 10)).toEqual([1])
    expect(await index.complete('  ', 10)).toEqual([])
    expect(await index.complete('nothing', 10)).toEqual([])
  })

  it('reads names without regard to case, accents and separators', async () => {
    const index = indexOf([['Café-Finder'], ['天气查询']])
    expect(await index.complete('CAFE FI', 10)).toEqual([0])
    expect(await index.complete('天气', 10)).toEqual([1])
    expect(await index.complete('气查询', 10)).toEqual([1])
  })

  it('puts agents that a search ranks lower, and unproved publishers, behind the others', async () => {
    const index = indexOfNamed(
      [
        { ...unnamed, name: 'Sky', package_name: 'a' },
        { ...unnamed, name: 'Sky weather', package_name: 'b' },
        { name: 'Sky weather of all', package_name: 'c', verification_level: 'domain_verified' },
      ],
      (slot) => (slot === 0 ? 0.5 : 1),
    )
    expect(await index.complete('sky', 10)).toEqual([2, 1, 0])
  })

  it('equals a search through all names, through every change', async () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' ', 'é', 'X'), maxLength: 12 })
    const change = fc.record({
      slot: fc.nat({ max: 8 }),
      name: text,
      package_name: text,
      isGone: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { maxLength: 40 }),
        fc.array(text, { maxLength: 3 }),
        async (changes, queries) => {
          const names = new Map<number, Named>()
          const index = new NameIndex((slot) => names.get(slot) ?? unnamed)
          for (const [at, { slot, name, package_name, isGone }] of changes.entries()) {
            if (names.delete(slot)) index.remove(slot)
            if (!isGone) {
              names.set(slot, { ...unnamed, name, package_name })
              index.add(slot)
            }
            if (at % 7 === 0) await index.complete('a', 1)
          }
          const folded = (name: string) =>
            name
              .normalize('NFKD')
              .replace(/\p{Mn}/gu, '')
              .toLowerCase()
              .replace(/[^a-z]+/g, ' ')
              .trim()
          for (const query of queries) {
            const found = await index.complete(query, 100)
            const sought = folded(query)
            const expected = [...names].flatMap(([slot, { name, package_name }]) => {
              const texts = [folded(name), folded(package_name)]
              const [own = ''] = texts
              const isFound =
                sought.length < 3
                  ? own.startsWith(sought) || own.includes(` ${sought}`)
                  : texts.some((each) => each.includes(sought))
              return sought !== '' && isFound ? [slot] : []
            })
            expect(found.toSorted()).toEqual(expected.toSorted())
          }
        },
      ),
      { numRuns: rounds(200) },
    )
  })
})
