import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AgentGroups, type Grouped } from '../../src/search/index/agent-groups.ts'
import { Scoreboard } from '../../src/search/index/scoreboard.ts'

const slots = 8
const describe = (slot: number) => ({ id: `agent-${slot}`, tie: '', callable: 'open' as const })

/** The hits of a search that finds every document, each with its alternatives. */
function hits(groups: AgentGroups, present: Iterable<number>): [number, readonly number[]][] {
  const board = new Scoreboard()
  board.reset(slots)
  for (const slot of present) board.add(slot, 1)
  const folded = groups.fold(board, describe, () => {})
  return [...board.slots.subarray(0, board.size)]
    .sort()
    .map((slot): [number, readonly number[]] => [slot, folded.get(slot) ?? []])
}

test('groups that follow changes are those of the same documents at once', async () => {
  const document = fc.record({
    source: fc.constantFrom('a', 'b', 'c'),
    agent_keys: fc.uniqueArray(fc.constantFrom('k', 'l', 'm', 'n'), { maxLength: 3 }),
  })
  const change = fc.record({
    slot: fc.nat(slots - 1),
    document: fc.option(document, { nil: undefined }),
    isSearched: fc.boolean(),
  })
  await fc.assert(
    fc.property(fc.array(change, { maxLength: 40 }), (changes) => {
      const documents = new Map<number, Grouped>()
      const groupedOf = (slot: number) => documents.get(slot) ?? { source: null, agent_keys: [] }
      const groups = new AgentGroups(groupedOf)
      for (const { slot, document: next, isSearched } of changes) {
        groups.remove(slot, groupedOf(slot))
        documents.delete(slot)
        if (next) {
          groups.add(slot, next)
          documents.set(slot, next)
        }
        if (isSearched) hits(groups, documents.keys())
      }
      const fresh = new AgentGroups(groupedOf)
      for (const [slot, value] of documents) fresh.add(slot, value)
      expect(hits(groups, documents.keys())).toEqual(hits(fresh, documents.keys()))
    }),
    { numRuns: 2000 },
  )
})
