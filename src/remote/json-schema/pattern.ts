const maxPatternLength = 200
const maxTextLength = 1000
const maxWays = 1_000_000

/** Repeated groups, lookarounds and back references can take exponential time. */
const slow = /\)[*+?{]|\(\?[=!<]|\\[1-9k]/
/** Quantifiers and alternatives, at which a backtracking matcher chooses. */
const choices = /[*+?|]|\{(\d+)(,?)(\d*)\}/g
/** Other regular expression dialects match characters of all scripts by these, so they are tried on ASCII only. */
const classes = /\\[wds]/i
const ascii = /^[\u0020-\u007e]*$/

interface PatternMatch {
  /** Undefined if the pattern was not tried or is invalid. */
  readonly matches: boolean | undefined
  /** Upper bound for the ways that a backtracking matcher tries. */
  readonly ways: number
}

/**
 * Matches a pattern of a JSON Schema (ECMA-262 with `u`) of hostile origin: it is tried only if the product of the
 * choices of a backtracking matcher is at most a million for this text.
 */
export function matchPattern(pattern: string, text: string): PatternMatch {
  const untried = { matches: undefined, ways: 1 }
  if (pattern.length > maxPatternLength || text.length > maxTextLength || slow.test(pattern)) return untried
  if (classes.test(pattern) && !ascii.test(text)) return untried
  const ways = waysOf(pattern, text.length)
  if (ways > maxWays) return untried
  try {
    return { matches: new RegExp(pattern, 'u').test(text), ways }
  } catch {
    return untried
  }
}

function waysOf(pattern: string, length: number): number {
  const isAnchored = pattern.startsWith('^') && !pattern.includes('|')
  let ways = isAnchored ? 1 : length + 1
  for (const [sign, min, comma, max] of pattern.replaceAll('(?:', '(').matchAll(choices)) {
    if (sign === '?' || sign === '|') ways *= 2
    else if (min === undefined || (comma !== '' && max === '')) ways *= length + 1
    else if (comma !== '') ways *= Math.min(length, Math.max(0, Number(max) - Number(min))) + 1
  }
  return ways
}
