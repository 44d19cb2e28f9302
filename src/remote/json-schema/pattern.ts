const longestPattern = 200
const longestMatched = 1000
const mostWays = 1_000_000

/** Groups that repeat, and anything that looks around or back, could take for ever. */
const slow = /\)[*+?{]|\(\?[=!<]|\\[1-9k]/
/** Where a matcher has to choose: how often, or which. */
const choices = /[*+?|]|\{(\d+)(,?)(\d*)\}/g
/** Other kinds of expressions mean letters and digits of all scripts by these. */
const classes = /\\[wds]/i
const ascii = /^[\u0020-\u007e]*$/

export interface Matched {
  /** Undefined where it was not tried, or the pattern is none. */
  readonly matches: boolean | undefined
  /** As many ways there are to try, at most. */
  readonly ways: number
}

/**
 * Whether a text holds a pattern of a JSON Schema (ECMA-262 with `u`), for patterns of hostile origin: tried where the
 * choices that a backtracking matcher has, multiplied, are at most a million for this text.
 */
export function matchPattern(pattern: string, text: string): Matched {
  const untried = { matches: undefined, ways: 1 }
  if (pattern.length > longestPattern || text.length > longestMatched || slow.test(pattern)) return untried
  if (classes.test(pattern) && !ascii.test(text)) return untried
  const ways = waysOf(pattern, text.length)
  if (ways > mostWays) return untried
  try {
    return { matches: new RegExp(pattern, 'u').test(text), ways }
  } catch {
    return untried
  }
}

function waysOf(pattern: string, length: number): number {
  const isAnchored = pattern.startsWith('^') && !pattern.includes('|')
  let ways = isAnchored ? 1 : length + 1
  for (const [sign, least, comma, most] of pattern.replaceAll('(?:', '(').matchAll(choices)) {
    if (sign === '?' || sign === '|') ways *= 2
    else if (least === undefined || (comma !== '' && most === '')) ways *= length + 1
    else if (comma !== '') ways *= Math.min(length, Math.max(0, Number(most) - Number(least))) + 1
  }
  return ways
}
