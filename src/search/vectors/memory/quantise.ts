import type { MemoryLayout } from './layout.ts'
import type { MemoryViews } from './views.ts'

/** Bounds over all vectors ever written, for the error of a dot product of integers. */
export interface ErrorBounds {
  /** Length of the rounding error, divided by the scale of the row. */
  readonly spread: number
  /** Length of a vector, rounded or not. */
  readonly longest: number
  /** Length of the low halves of a row's integers. */
  readonly lows: number
}

export const noBounds: ErrorBounds = { spread: 0, longest: 0, lows: 0 }

/** A query in the form that the kernel takes: dot product = scale * (unit * integers ± margin) ± slack. */
export interface Terms {
  readonly unit: number
  readonly margin: number
  readonly slack: number
}

/** An integer is 16 * its high half + its low half, both of 4 bits with a sign. */
const maxCode = 119
const halfOffset = 8
/**
 * What the low halves add to a dot product, in standard deviations, is less than this: they are as good as independent of
 * the query. Fewer than one search in a million misses one of its results by it.
 */
const deviations = 5
const maxCoarseCode = 127
/** The query's integers have 14 bits, so that its rounding error is negligible. */
const maxQueryCode = 8191
const queryOffset = 8192
const leastScale = 2 ** -126
/** A residual of 1 is the scale divided by this: half a step of the integers is the greatest one of 8 bits. */
const residualSteps = 254

/** A query in the form that compares it with the high halves alone: dot product = scale * (unit * halves + base ± margin) ± slack. */
interface CoarseTerms extends Terms {
  readonly base: number
}

/** Writes a vector as a row of the slab at this address, in every form. */
export function writeRow(
  views: MemoryViews,
  layout: MemoryLayout,
  slab: number,
  row: number,
  vector: Float32Array,
): ErrorBounds {
  const { bytes, floats } = views
  const { codeBytes, halfBytes, slab: sections } = layout
  const [highs, lows] = [slab + sections.highs + row * halfBytes, slab + sections.lows + row * halfBytes]
  const residuals = slab + sections.residuals + row * codeBytes
  const scale = scaleOf(highest(vector) / maxCode)
  let lowSquare = 0
  const { sum, error, square } = round(vector, scale, codeBytes, (index, code, number) => {
    const high = (code + halfOffset) >> 4
    const low = code - 16 * high
    // 16 bytes hold the halves of 32 numbers, those of the first 16 in their low bits.
    const place = (index >> 5) * 16 + (index & 15)
    const shift = (index & 16) >> 2
    bytes[highs + place] = ((high + halfOffset) << shift) | (shift === 0 ? 0 : (bytes[highs + place] ?? 0))
    bytes[lows + place] = ((low + halfOffset) << shift) | (shift === 0 ? 0 : (bytes[lows + place] ?? 0))
    lowSquare += low * low
    bytes[residuals + index] = scale === 0 ? 0 : Math.round((number / scale - code) * residualSteps)
  })
  floats[(slab + sections.scales) / 4 + row] = scale
  floats[(slab + sections.centers) / 4 + row] = sum * queryOffset
  return {
    spread: scale === 0 ? 0 : Math.sqrt(error) / scale,
    longest: Math.sqrt(square) + Math.sqrt(error),
    lows: Math.sqrt(lowSquare),
  }
}

/** Writes the vector of a query to the scratch area of the kernel. */
export function writeQuery(
  views: MemoryViews,
  layout: MemoryLayout,
  vector: Float32Array,
  bounds: ErrorBounds,
): Terms {
  const { codeBytes, scratch } = layout
  const unit = scaleOf(highest(vector) / maxQueryCode)
  const { error, square } = round(vector, unit, codeBytes, (index, code) => {
    const piece = scratch.query + Math.floor(index / 16) * 32 + (index % 16)
    views.bytes[piece] = (code + queryOffset) >> 7
    views.bytes[piece + 16] = (code + queryOffset) & 0x7f
  })
  views.floats.set(vector, scratch.floats / 4)
  return termsOf(unit, square, bounds.spread, error, bounds, codeBytes)
}

/**
 * Writes it for the comparison with the high halves: as the query with this number of `count`, whose pieces of 32
 * numbers take turns.
 */
export function writeCoarseQuery(
  { bytes }: MemoryViews,
  { dimensions, codeBytes, scratch }: MemoryLayout,
  vector: Float32Array,
  bounds: ErrorBounds,
  number = 0,
  count = 1,
): CoarseTerms {
  const scale = scaleOf(highest(vector) / maxCoarseCode)
  const { sum, error, square } = round(vector, scale, codeBytes, (index, code) => {
    bytes[scratch.coarse + ((index >> 5) * count + number) * 32 + (index & 31)] = code
  })
  // In few dimensions this is more than what the errors can be at all.
  const share = Math.min(1, deviations / Math.sqrt(dimensions))
  const unit = 16 * scale
  const terms = termsOf(unit, square, share * bounds.lows, share ** 2 * error, bounds, codeBytes)
  return { ...terms, base: -unit * halfOffset * sum }
}

/**
 * Rounds the first `length` numbers of a vector to integers of this scale, and hands each to `put`. The sum of the
 * integers, and the squared lengths of the rounding error and of the vector.
 */
function round(
  vector: Float32Array,
  scale: number,
  length: number,
  put: (index: number, code: number, number: number) => void,
): { sum: number; error: number; square: number } {
  let sum = 0
  let error = 0
  let square = 0
  for (let index = 0; index < length; index++) {
    const number = vector[index] ?? 0
    const code = scale === 0 ? 0 : Math.round(number / scale)
    put(index, code, number)
    sum += code
    error += (number - code * scale) ** 2
    square += number ** 2
  }
  return { sum, error, square }
}

/**
 * The terms of a query of this squared length, rounded by a vector of the squared length `error`, against rows whose
 * rounding is as long as `spread`. The additions cover the kernel's own rounding: below 2^-24 of each number, and
 * numbers too small for floats.
 */
function termsOf(
  unit: number,
  square: number,
  spread: number,
  error: number,
  { longest }: ErrorBounds,
  codeBytes: number,
): Terms {
  const length = Math.sqrt(square)
  return {
    unit,
    margin: length * spread * (1 + 1e-6),
    slack: (Math.sqrt(error) + 1e-6 * Math.sqrt(codeBytes) * length) * longest + 2 ** -100,
  }
}

/** A scale that a float holds exactly, so that the rounding error can be computed. */
function scaleOf(number: number): number {
  return number === 0 ? 0 : Math.max(Math.fround(number), leastScale)
}

function highest(vector: Float32Array): number {
  let highest = 0
  for (let index = 0; index < vector.length; index++) {
    const size = Math.abs(vector[index] ?? 0)
    if (size > highest) highest = size
  }
  return highest
}
