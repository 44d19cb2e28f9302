import { createHmac, randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { UnmetQuery } from '../../../schemas/status.ts'
import { upTo } from '../../common/lru.ts'

/**
 * Queries that found nothing or nothing that fits, in the memory of this process. There is no other record of queries:
 * an operator learns what is missing, and nobody's query.
 */
export interface UnmetQueries {
  /** Counts a query of a caller. */
  note(query: string, caller: string, found: UnmetQuery['found']): void
  /** The queries of at least five callers, the most frequent first. */
  list(): UnmetQuery[]
}

interface Counted {
  times: number
  found: UnmetQuery['found']
  /** Keyed hashes of callers; no more than what it takes to show the query. */
  readonly callers: Set<string>
}

const minCallers = 5
const maxQueries = 5_000
const maxShown = 100
const maxCharacters = 100
/** Words that may tell of a person: numbers, addresses, names of accounts, and long words without a space, such as keys. */
const personal = /\p{N}|@|:\/\/|[\\/#]|\.\p{L}/u
const maxWord = 24

export function createUnmetQueries(): UnmetQueries {
  const key = randomBytes(32)
  const queries = new LRUCache<string, Counted>(upTo(maxQueries))
  return {
    note(query, caller, found) {
      const text = withoutPersonal(query)
      if (text === '') return
      const counted = queries.get(text) ?? { times: 0, found, callers: new Set() }
      counted.times++
      counted.found = found
      if (counted.callers.size < minCallers) {
        counted.callers.add(createHmac('sha256', key).update(caller).digest('base64'))
      }
      queries.set(text, counted)
    },
    list: () =>
      [...queries]
        .filter(([, { callers }]) => callers.size >= minCallers)
        .map(([query, { times, found }]) => ({ query, times, found }))
        .sort((left, right) => right.times - left.times)
        .slice(0, maxShown),
  }
}

/** The words of a query that say nothing of a person, in lower case. */
function withoutPersonal(query: string): string {
  const words = query.slice(0, 1000).normalize('NFKC').toLowerCase().split(/\s+/u)
  const plain = words.filter((word) => word !== '' && word.length <= maxWord && !personal.test(word))
  return plain.join(' ').slice(0, maxCharacters)
}
