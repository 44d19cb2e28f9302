/** Costs of one error, 1 for a usual one: what fingers and ears confuse costs less. */
const costs = {
  swap: 0.7,
  doubled: 0.5,
  vowel: 0.7,
  sound: 0.7,
  neighbour: 0.8,
  letter: 0.9,
  other: 1,
  first: 0.1,
}

/** The cost of the cheapest error. */
export const leastCost = costs.doubled

const rows = ['qwertyuiop', 'asdfghjkl', 'zxcvbnm']
const vowels = new Set('aeiouy')
/** Letters that are written for each other because they sound alike. */
const soundsAlike = ['ck', 'cs', 'sz', 'gj', 'fv', 'mn', 'qk', 'dt', 'bp']

const pairs = new Map<string, number>()
for (const left of vowels) for (const right of vowels) pairs.set(left + right, costs.vowel)
for (const [left = '', right = ''] of soundsAlike) {
  pairs.set(left + right, costs.sound)
  pairs.set(right + left, costs.sound)
}
for (const [index, row] of rows.entries()) {
  for (const [at, key] of Array.from(row).entries()) {
    const below = rows[index + 1] ?? ''
    for (const near of [row[at + 1], below[at - 1], below[at]]) {
      if (near === undefined) continue
      if (!pairs.has(key + near)) pairs.set(key + near, costs.neighbour)
      if (!pairs.has(near + key)) pairs.set(near + key, costs.neighbour)
    }
  }
}

/** Costs of a letter for another, by their codes, both of a to z. */
const substitution = new Float64Array(26 * 26).fill(costs.other)
for (const [pair, cost] of pairs)
  substitution[(pair.charCodeAt(0) - 97) * 26 + pair.charCodeAt(1) - 97] = cost

const width = 32

/** Maximum number of errors in a word. */
export const maxEdits = 2
const table = new Float64Array(width * width)

/** Words with more letters have no edit cost. */
export const maxLetters = width - 2

/**
 * The cost of the errors that make `written` of `meant`: letters that are missing, added, exchanged or swapped with
 * the next one (optimal string alignment, weighed). Infinity above `limit`.
 */
export function editCost(written: string, meant: string, limit: number): number {
  const [height, length] = [written.length, meant.length]
  if (Math.abs(height - length) > maxEdits) return Number.POSITIVE_INFINITY
  for (let column = 0; column <= length; column++) table[column] = column === 0 ? 0 : column + costs.first
  let beforeLeast = 0
  let least = 0
  for (let row = 1; row <= height; row++) {
    const letter = written.charCodeAt(row - 1)
    const before = written.charCodeAt(row - 2)
    const start = row * width
    beforeLeast = least
    least = row + costs.first
    const [from, to] = [Math.max(1, row - maxEdits), Math.min(length, row + maxEdits)]
    table[start + from - 1] = from > 1 ? Number.POSITIVE_INFINITY : row + costs.first
    table[start + to + 1] = Number.POSITIVE_INFINITY
    for (let column = from; column <= to; column++) {
      const place = start + column
      const other = meant.charCodeAt(column - 1)
      const previous = meant.charCodeAt(column - 2)
      const first = row === 1 || column === 1 ? costs.first : 0
      const exchanged =
        letter === other ? 0 : (row === 1 && column === 1 ? costs.first : 0) + substitutionOf(letter, other)
      const added = letter === before || letter === other ? costs.doubled : costs.letter + first
      const missing = other === previous ? costs.doubled : costs.letter + first
      let cost = Math.min(
        (table[place - width - 1] as number) + exchanged,
        (table[place - width] as number) + added,
        (table[place - 1] as number) + missing,
      )
      if (letter === previous && before === other && row > 1 && column > 1)
        cost = Math.min(cost, (table[place - 2 * width - 2] as number) + costs.swap)
      table[place] = cost
      if (cost < least) least = cost
    }
    // Every further cost comes from this row, or by a swap from the one before.
    if (least > limit && beforeLeast + costs.swap > limit) return Number.POSITIVE_INFINITY
  }
  const cost = table[height * width + length] as number
  return cost <= limit ? cost : Number.POSITIVE_INFINITY
}

function substitutionOf(left: number, right: number): number {
  const [from, to] = [left - 97, right - 97]
  return from >= 0 && from < 26 && to >= 0 && to < 26 ? (substitution[from * 26 + to] as number) : costs.other
}

const letterBits = 32

/**
 * Counts the errors that make `written` of a word, each as one (optimal string alignment), a column of the table at once
 * in the bits of an integer (Hyyrö 2003). Letters that share five bits count as equal, so it may count too few.
 */
export function editCounter(written: string): (meant: string) => number {
  const places = new Int32Array(letterBits)
  for (let at = 0; at < written.length; at++) {
    const letter = written.charCodeAt(at) % letterBits
    places[letter] = (places[letter] as number) | (1 << at)
  }
  const last = 1 << (written.length - 1)
  return (meant) => {
    let count = written.length
    let [more, less, equal, before] = [-1, 0, 0, 0]
    for (let at = 0; at < meant.length; at++) {
      const place = places[meant.charCodeAt(at) % letterBits] as number
      const swapped = ((~equal & place) << 1) & before
      equal = (((place & more) + more) ^ more) | place | less | swapped
      const higher = less | ~(equal | more)
      const lower = equal & more
      if (higher & last) count++
      if (lower & last) count--
      const shifted = (higher << 1) | 1
      more = (lower << 1) | ~(equal | shifted)
      less = shifted & equal
      before = place
    }
    return count
  }
}
