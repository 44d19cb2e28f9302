/** Vectors in a slab, and so the maximum number of vectors of one entry. */
export const slabRows = 512

const maxDimensions = 16_384
/** Number of distances that the kernel tells apart. */
export const distances = 2048

/** Queries that the kernel can compare in one pass over the vectors. */
export const lanes = 4

/** The threads that compare vectors at the same time, each with a scratch area of its own. */
const threads = ['main', 'scan'] as const
type Thread = (typeof threads)[number]

/**
 * Offsets in the kernel's memory, in bytes. The memory begins with a scratch area for each thread, the data of the
 * queries that it compares at once. The slabs follow, each with space for `slabRows` vectors in several forms.
 */
export interface MemoryLayout {
  readonly dimensions: number
  /** Bytes of a vector as integers of 8 bits, and of their residuals. */
  readonly codeBytes: number
  /** Bytes of a vector as the high or the low halves of these integers. */
  readonly halfBytes: number
  /** Bytes of the distances of one query, in each slab. */
  readonly distanceBytes: number
  readonly firstSlab: number
  readonly scratch: Sections<
    | 'query'
    | 'coarse'
    | 'floats'
    | 'codes'
    | 'uppers'
    | 'chosen'
    | 'narrowed'
    | 'histogram'
    | 'order'
    | 'terms'
  >
  readonly slab: Sections<'list' | 'distances' | 'highs' | 'lows' | 'scales' | 'centers' | 'residuals'>
}

/** The start of each section, and the bytes of all. */
type Sections<Name extends string> = Readonly<Record<Name | 'bytes', number>>

/** The layout for one of the threads. Throws RangeError for an unsupported number of dimensions. */
export function layoutOf(dimensions: number, thread: Thread = 'main'): MemoryLayout {
  if (!Number.isInteger(dimensions) || dimensions < 1 || dimensions > maxDimensions)
    throw new RangeError(`Vectors have 1 to ${maxDimensions} dimensions, not ${dimensions}.`)
  const codeBytes = roundUp(dimensions, 128)
  const halfBytes = codeBytes / 2
  // The kernel reads lists four items at a time, beyond their end.
  const listBytes = (slabRows + 4) * 2
  const distanceBytes = slabRows * 2
  const sizes = {
    query: codeBytes * 2,
    coarse: codeBytes * lanes,
    floats: codeBytes * 4,
    codes: codeBytes * 4,
    uppers: slabRows * 8 * lanes,
    chosen: slabRows * 12,
    narrowed: listBytes,
    histogram: distances * 4 * lanes,
    order: listBytes,
    // Four numbers of four bytes for each query.
    terms: 4 * 4 * lanes,
  }
  const { bytes } = sections(sizes)
  return {
    dimensions,
    codeBytes,
    halfBytes,
    distanceBytes,
    firstSlab: threads.length * bytes,
    scratch: sections(sizes, threads.indexOf(thread) * bytes),
    // What scans write comes first: the rest, from `highs` on, is what a snapshot holds.
    slab: sections({
      list: listBytes,
      distances: distanceBytes * lanes,
      highs: slabRows * halfBytes,
      lows: slabRows * halfBytes,
      scales: slabRows * 4,
      centers: slabRows * 4,
      residuals: slabRows * codeBytes,
    }),
  }
}

function sections<Name extends string>(sizes: Record<Name, number>, start = 0): Sections<Name> {
  const starts: Record<string, number> = {}
  let bytes = 0
  for (const [name, size] of Object.entries<number>(sizes)) {
    starts[name] = start + bytes
    bytes += roundUp(size, 64)
  }
  return { ...starts, bytes } as Sections<Name>
}

function roundUp(size: number, step: number): number {
  return Math.ceil(size / step) * step
}
