/** Quality of an extracted text, each measure from 0 to 1. */
export interface Score {
  readonly precision: number
  readonly recall: number
  readonly f1: number
}

/** Shares of a page that were found correctly, found wrongly and missed. */
interface Overlap {
  readonly right: number
  readonly wrong: number
  readonly missed: number
}

/** Words as the two benchmarks split them (Python's `\w+`). */
export function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{N}_]+/gu) ?? []
}

/** The overlap of two bags of words, or of runs of words. */
function overlap(found: readonly string[], expected: readonly string[]): Overlap {
  const left = countsOf(expected)
  let right = 0
  for (const word of found) {
    const count = left.get(word) ?? 0
    if (count === 0) continue
    right++
    left.set(word, count - 1)
  }
  return { right, wrong: found.length - right, missed: expected.length - right }
}

/** Runs of four words, or the whole of a shorter text; an empty list for an empty text. */
function shingles(text: string): string[] {
  const words = wordsOf(text)
  if (words.length === 0) return []
  const runs = Math.max(1, words.length - 3)
  return Array.from({ length: runs }, (_, start) => words.slice(start, start + 4).join(' '))
}

/**
 * Web Content Extraction Benchmark (evaluate.py): words without case. A page without expected text is right if nothing
 * is found.
 */
export function wordScore(found: string, expected: string): Score {
  const words = (text: string) => wordsOf(text.toLowerCase())
  const { right, wrong, missed } = overlap(words(found), words(expected))
  if (right + wrong + missed === 0) return { precision: 1, recall: 1, f1: 1 }
  const precision = right / Math.max(1, right + wrong)
  const recall = right / Math.max(1, right + missed)
  return { precision, recall, f1: harmonic(precision, recall) }
}

/** Article Extraction Benchmark (evaluate.py) for one page. An empty side counts for neither mean. */
export function shingleScore(found: string, expected: string): Score {
  const { right, wrong, missed } = overlap(shingles(found), shingles(expected))
  const share = (total: number) => (total === 0 ? Number.NaN : right / total)
  const precision = wrong === 0 && missed === 0 ? 1 : share(right + wrong)
  const recall = wrong === 0 && missed === 0 ? 1 : share(right + missed)
  return { precision, recall, f1: harmonic(precision || 0, recall || 0) }
}

export function harmonic(precision: number, recall: number): number {
  return precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall)
}

export function mean(values: readonly number[]): number {
  const numbers = values.filter((value) => !Number.isNaN(value))
  return numbers.reduce((sum, value) => sum + value, 0) / Math.max(1, numbers.length)
}

/** The standard error of the mean. */
export function standardError(values: readonly number[]): number {
  const middle = mean(values)
  const variance = values.reduce((sum, value) => sum + (value - middle) ** 2, 0)
  return Math.sqrt(variance / Math.max(1, values.length - 1) / Math.max(1, values.length))
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

function countsOf(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}
