import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { mulberry32 } from './metrics.ts'

/** Makes errors in the words of a text. */
interface Misspeller {
  readonly name: string
  misspell(text: string): string
  /** Share of the words of at least 5 letters that have become others so far. */
  share(): number
}

/** Misspells a word; the same word if it cannot. */
type Misspell = (word: string, random: () => number) => string

/** Share of the words of at least 5 letters that are misspelt. */
const share = 0.3
const words = /\p{L}{5,}/gu
const letters = 'abcdefghijklmnopqrstuvwxyz'

/** `edits` makes one random error in a word; another source is a file with lines such as `recieve->receive`. */
export function createMisspeller(source: string): Misspeller {
  const edits = source === 'edits'
  const misspell = edits ? edit : fromList(readFileSync(source, 'utf8'))
  const random = mulberry32(20)
  let all = 0
  let changed = 0
  return {
    name: edits ? 'one error a word' : basename(source),
    misspell(text) {
      const found = [...text.matchAll(words)].map(({ 0: word, index }) => ({
        index,
        word,
        wrong: misspell(word, random),
      }))
      const count = Math.floor(found.length * share + random())
      const chosen = found
        .filter(({ word, wrong }) => wrong !== word)
        .map((item) => ({ ...item, order: random() }))
        .sort((left, other) => left.order - other.order)
        .slice(0, count)
      all += found.length
      changed += chosen.length
      return chosen
        .sort((left, other) => other.index - left.index)
        .reduce(
          (before, { index, word, wrong }) =>
            `${before.slice(0, index)}${wrong}${before.slice(index + word.length)}`,
          text,
        )
    },
    share: () => changed / all,
  }
}

/** One letter is missing, added, exchanged, or swapped with the next one. */
const edit: Misspell = (word, random) => {
  const at = Math.floor(random() * (word.length - 1))
  const letter = letters[Math.floor(random() * letters.length)] ?? ''
  const [before, after] = [word.slice(0, at), word.slice(at)]
  const kinds = [
    before + after.slice(1),
    before + letter + after,
    before + letter + after.slice(1),
    before + after.charAt(1) + after.charAt(0) + after.slice(2),
  ]
  return kinds[Math.floor(random() * kinds.length)] ?? word
}

/** Errors of people: each line of the list is a misspelling, `->`, and what was meant, or several such words. */
function fromList(list: string): Misspell {
  const errors = new Map<string, string[]>()
  for (const line of list.split('\n')) {
    const [wrong = '', meant = ''] = line.trim().toLowerCase().split('->')
    for (const right of meant.split(',').map((word) => word.trim()))
      if (/^\p{L}+$/u.test(wrong) && right !== '') errors.set(right, [...(errors.get(right) ?? []), wrong])
  }
  return (word, random) => {
    const all = errors.get(word.toLowerCase()) ?? []
    const wrong = all[Math.floor(random() * all.length)] ?? word
    return /^\p{Lu}/u.test(word) ? wrong.charAt(0).toUpperCase() + wrong.slice(1) : wrong
  }
}
