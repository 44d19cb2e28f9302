import type { MemoryLayout } from './layout.ts'
import type { MemoryViews } from './views.ts'

/** Bounds over all vectors ever written, for the error of a dot product of integers. */
export interface ErrorBounds {
  /** Length of the rounding error, divided by the scale of the row. */
  readonly spread: number
  /** Length of a vector, rounded or not. */
  readonly longest: number
}

/** A query in the form that the kernel takes: dot product = scale * (unit * integers ± margin) ± slack. */
export interface Terms {
  readonly unit: number
  readonly margin: number
  readonly slack: number
}

const maxCode = 127
/** The query's integers have 14 bits, so that its rounding error is negligible. */
const maxQueryCode = 8191
const queryOffset = 8192
const leastScale = 2 ** -126
/** A residual of 1 is the scale divided by this: half a step of the integers is the greatest one of 16 bits. */
const residualSteps = 65_534

/** Writes a vector as a row of the slab at this address, in every form. The padding stays zero. */
export function writeRow(
  views: MemoryViews,
  layout: MemoryLayout,
  slab: number,
  row: number,
  vector: Float32Array,
): ErrorBounds {
  const { codes, floats, residuals } = views
  const { codeBytes, slab: sections } = layout
  const start = slab + sections.codes + row * codeBytes
  const residualStart = (slab + sections.residuals) / 2 + row * codeBytes
  const scale = scaleOf(highest(vector) / maxCode)
  let sum = 0
  let error = 0
  let square = 0
  for (let index = 0; index < vector.length; index++) {
    const number = vector[index] ?? 0
    const code = scale === 0 ? 0 : Math.round(number / scale)
    codes[start + index] = code
    residuals[residualStart + index] = scale === 0 ? 0 : Math.round((number / scale - code) * residualSteps)
    sum += code
    error += (number - code * scale) ** 2
    square += number ** 2
  }
  floats[(slab + sections.scales) / 4 + row] = scale
  floats[(slab + sections.centers) / 4 + row] = sum * queryOffset
  writeSketch(views, slab + sections.sketches + row * layout.sketchBytes, layout.sketchBytes, vector)
  return {
    spread: scale === 0 ? 0 : Math.sqrt(error) / scale,
    longest: Math.sqrt(square) + Math.sqrt(error),
  }
}

/** Writes the vector of a query to the scratch area of the kernel. */
export function writeQuery(
  views: MemoryViews,
  layout: MemoryLayout,
  vector: Float32Array,
  bounds: ErrorBounds,
): Terms {
  const { codeBytes, sketchBytes, scratch } = layout
  const unit = scaleOf(highest(vector) / maxQueryCode)
  let error = 0
  let square = 0
  for (let index = 0; index < codeBytes; index++) {
    const number = vector[index] ?? 0
    const code = unit === 0 ? 0 : Math.round(number / unit)
    const piece = scratch.query + Math.floor(index / 16) * 32 + (index % 16)
    views.bytes[piece] = (code + queryOffset) >> 7
    views.bytes[piece + 16] = (code + queryOffset) & 0x7f
    error += (number - code * unit) ** 2
    square += number ** 2
  }
  writeSketch(views, scratch.sketch, sketchBytes, vector)
  views.floats.set(vector, scratch.floats / 4)
  const length = Math.sqrt(square)
  // The additions cover the kernel's own rounding: below 2^-24 of each number, and numbers too small for
  // floats.
  return {
    unit,
    margin: length * bounds.spread * (1 + 1e-6),
    slack: (Math.sqrt(error) + 1e-6 * Math.sqrt(codeBytes) * length) * bounds.longest + 2 ** -100,
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

function writeSketch({ bytes }: MemoryViews, address: number, length: number, vector: Float32Array): void {
  for (let index = 0; index < length; index++) {
    let signs = 0
    for (let bit = 0; bit < 8; bit++) if ((vector[index * 8 + bit] ?? 0) < 0) signs |= 1 << bit
    bytes[address + index] = signs
  }
}
