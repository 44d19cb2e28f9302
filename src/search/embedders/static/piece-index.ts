/** The vocabulary's pieces by their UTF-8 bytes; an id is the line of a piece in the vocabulary. */
export interface PieceIndex {
  /** Number of pieces in the vocabulary; those beyond the requested number are only counted. */
  readonly count: number
  /** Id of a piece that occurs twice in the vocabulary; -1 if all differ. */
  readonly repeated: number
  /** Bytes by id, without `##`. */
  readonly sizes: Uint32Array
  /** Id of the piece; -1 if there is none. */
  idOf(piece: string): number
  /** The piece without `##`. */
  textOf(id: number): string
  /**
   * Id of the longest piece that starts at `word[from]` and ends before `word[to]`; -1 if there is none. Unless
   * `isContinuing` says otherwise, at 0 it is a piece that begins a word, elsewhere a piece that continues a word (`##`).
   */
  longest(word: Uint8Array, from: number, to: number, isContinuing?: boolean): number
}

const newline = 0x0a
const sharp = 0x23
const encoder = new TextEncoder()

/**
 * An open hash table of the first `pieces` lines, over the vocabulary's own bytes. Without strings it is built in a
 * few milliseconds. The hash advances byte by byte, so one pass over a word gives the keys of all its prefixes.
 */
export function createPieceIndex(vocabulary: Uint8Array, pieces: number): PieceIndex {
  const bits = 33 - Math.clz32(pieces)
  const slots = new Int32Array(2 ** bits).fill(-1)
  const starts = new Uint32Array(pieces)
  const sizes = new Uint32Array(pieces)
  const continuing = new Uint8Array(pieces)
  let count = 0
  let repeated = -1
  let maxSize = 0

  /** The slot of the piece with these bytes, or the empty slot for it. */
  function find(hash: number, kind: number, bytes: Uint8Array, from: number, size: number): number {
    let slot = Math.imul(hash, 0x9e3779b1) >>> (32 - bits)
    for (; ; slot = (slot + 1) & (slots.length - 1)) {
      const id = slots[slot] as number
      if (id === -1) return slot
      if (sizes[id] === size && continuing[id] === kind && isAt(starts[id] as number, bytes, from, size))
        return slot
    }
  }

  function isAt(start: number, bytes: Uint8Array, from: number, size: number): boolean {
    for (let index = 0; index < size; index++)
      if (vocabulary[start + index] !== bytes[from + index]) return false
    return true
  }

  for (let start = 0; start < vocabulary.length; count++) {
    const kind = continues(vocabulary, start) ? 1 : 0
    const from = start + 2 * kind
    let end = from
    let hash = kind
    for (; end < vocabulary.length && vocabulary[end] !== newline; end++)
      hash = hashOn(hash, vocabulary[end] as number)
    start = end + 1
    if (count >= pieces) continue
    const slot = find(hash, kind, vocabulary, from, end - from)
    if (slots[slot] !== -1) repeated = count
    slots[slot] = count
    starts[count] = from
    sizes[count] = end - from
    continuing[count] = kind
    maxSize = Math.max(maxSize, end - from)
  }
  const hashes = new Int32Array(maxSize)

  return {
    count,
    repeated,
    sizes,
    idOf(piece) {
      // No piece has fewer bytes than letters.
      if (piece.length > maxSize + 2) return -1
      const bytes = encoder.encode(piece)
      const kind = continues(bytes, 0) ? 1 : 0
      const from = 2 * kind
      let hash = kind
      for (let index = from; index < bytes.length; index++) hash = hashOn(hash, bytes[index] as number)
      return slots[find(hash, kind, bytes, from, bytes.length - from)] as number
    },
    textOf(id) {
      const start = starts[id] as number
      return new TextDecoder().decode(vocabulary.subarray(start, start + (sizes[id] as number)))
    },
    longest(word, from, to, isContinuing = from > 0) {
      const kind = isContinuing ? 1 : 0
      const size = Math.min(to - from, maxSize)
      let hash = kind
      for (let index = 0; index < size; index++) {
        hash = hashOn(hash, word[from + index] as number)
        hashes[index] = hash
      }
      for (let shorter = size; shorter > 0; shorter--) {
        const id = slots[find(hashes[shorter - 1] as number, kind, word, from, shorter)] as number
        if (id !== -1) return id
      }
      return -1
    },
  }
}

function hashOn(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, 0x01000193)
}

/** True for `##` with more bytes; `##` alone is a piece itself. */
function continues(bytes: Uint8Array, start: number): boolean {
  const third = bytes[start + 2]
  return bytes[start] === sharp && bytes[start + 1] === sharp && third !== undefined && third !== newline
}
