import type { Rendered } from '../markdown.ts'

/** A section of a guide that matches. */
export interface DocHit {
  readonly title: string
  readonly heading: string
  /** The address of the section. */
  readonly path: string
  /** A part of the text: the matched words stand at the odd places. */
  readonly excerpt: readonly string[]
}

interface Searched extends Pick<Rendered, 'title' | 'sections'> {
  readonly path: string
}

const maxHits = 20
const maxTerms = 12
/** Characters of an excerpt before and after its first word. */
const before = 60
const after = 140
/** What a word counts where it stands. */
const weights = { title: 8, heading: 5, text: 1 }
/** Records of decisions count less than guides. */
const recordShare = 0.4
/** Times that a word counts in one section. */
const maxRepeats = 4

interface Place {
  readonly title: string
  readonly heading: string
  readonly path: string
  readonly text: string
}

/** Searches guides by words and beginnings of words. The index holds each word once, with what it counts in a section. */
export function createDocSearch(docs: readonly Searched[]): (query: string) => DocHit[] {
  const places: Place[] = []
  const index = new Map<string, Map<number, number>>()

  function add(text: string, place: number, weight: number): void {
    for (const word of wordsOf(text)) {
      const counts = index.get(word) ?? new Map<number, number>()
      index.set(word, counts)
      counts.set(place, Math.min((counts.get(place) ?? 0) + weight, weights.title + weight * maxRepeats))
    }
  }

  for (const { title, path, sections } of docs) {
    const share = path.startsWith('/docs/decisions/') ? recordShare : 1
    for (const [at, { heading, id, text }] of sections.entries()) {
      const place = places.push({ title, heading, path: at === 0 ? path : `${path}#${id}`, text }) - 1
      add(heading, place, share * (at === 0 ? weights.title : weights.heading))
      add(text, place, share * weights.text)
    }
  }

  /** What each section counts for a term; a whole word counts twice as much as the beginning of one. */
  function countsOf(term: string): Map<number, number> {
    const counts = new Map<number, number>()
    for (const [word, found] of index) {
      if (!word.startsWith(term)) continue
      const factor = (word === term ? 2 : 1) / Math.log2(2 + found.size)
      for (const [place, count] of found) {
        counts.set(place, Math.max(counts.get(place) ?? 0, count * factor))
      }
    }
    return counts
  }

  return (query) => {
    const terms = [...new Set(wordsOf(query))].slice(0, maxTerms)
    const scores = new Map<number, { matched: number; score: number }>()
    for (const term of terms) {
      for (const [place, count] of countsOf(term)) {
        const { matched, score } = scores.get(place) ?? { matched: 0, score: 0 }
        scores.set(place, { matched: matched + 1, score: score + count })
      }
    }
    // A section with more of the words comes before one with fewer of them.
    const order = [...scores].sort(
      ([, left], [, right]) => right.matched - left.matched || right.score - left.score,
    )
    const best = order[0]?.[1].matched
    return order
      .filter(([, { matched }]) => matched === best)
      .slice(0, maxHits)
      .flatMap(([place]) => {
        const { text, ...found } = places[place] ?? { title: '', heading: '', path: '', text: '' }
        return [{ ...found, excerpt: excerptOf(text, terms) }]
      })
  }
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []
}

function excerptOf(text: string, terms: readonly string[]): string[] {
  const flat = text.replace(/\s+/g, ' ').trim()
  const starts = terms.map((term) => RegExp.escape(term)).join('|')
  const mark = new RegExp(`(?<![\\p{L}\\p{N}_])((?:${starts})[\\p{L}\\p{N}_]*)`, 'giu')
  const first = flat.search(mark)
  const from = first > before ? flat.indexOf(' ', first - before) + 1 : 0
  const until = Math.max(first, 0) + after
  const part = flat.slice(from, until < flat.length ? flat.lastIndexOf(' ', until) : flat.length)
  const shown = `${from > 0 ? '… ' : ''}${part}${until < flat.length ? ' …' : ''}`
  return shown.split(mark)
}
