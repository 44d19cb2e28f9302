/** Boosted regression trees as scripts/reader-model/train.py writes them. */
interface TreeModel {
  /** Name of each number of a row. */
  readonly features: readonly string[]
  /**
   * A table of splits in base64, little-endian, tree after tree: feature (uint16), threshold (float32), and the next
   * node at or below the threshold and above it (int16 each: a split of the same tree, or a leaf as -1 - its number).
   */
  readonly splits: string
  /** The values of the leaves, float32 in base64, tree after tree. */
  readonly leaves: string
  /** Number of leaves of each tree; a tree has one split less. */
  readonly sizes: readonly number[]
}

const bytesOfSplit = 10

/** Compiles a function from the features of a block to the probability that it is content. */
export function compile(model: TreeModel): (row: Float32Array) => number {
  const splits = Buffer.from(model.splits, 'base64')
  const count = splits.length / bytesOfSplit
  const features = Uint16Array.from({ length: count }, (_, at) => splits.readUInt16LE(at * bytesOfSplit))
  const limits = Float32Array.from({ length: count }, (_, at) => splits.readFloatLE(at * bytesOfSplit + 2))
  const below = Int16Array.from({ length: count }, (_, at) => splits.readInt16LE(at * bytesOfSplit + 6))
  const above = Int16Array.from({ length: count }, (_, at) => splits.readInt16LE(at * bytesOfSplit + 8))
  const bytes = Buffer.from(model.leaves, 'base64')
  const leaves = Float32Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4))

  return (row) => {
    let sum = 0
    let first = 0
    let firstLeaf = 0
    for (const size of model.sizes) {
      let node = size > 1 ? 0 : -1
      while (node >= 0) {
        const at = first + node
        node = ((row[features[at] ?? 0] ?? 0) <= (limits[at] ?? 0) ? below[at] : above[at]) ?? -1
      }
      sum += leaves[firstLeaf - 1 - node] ?? 0
      first += size - 1
      firstLeaf += size
    }
    return 1 / (1 + Math.exp(-sum))
  }
}
