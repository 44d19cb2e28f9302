import type { CapabilityTerms } from './capability-terms.ts'

/** The numbers of the lists that contain the terms of one document. */
export interface IndexedText {
  readonly length: number
  /** True if the document counts in the rarity of terms and the average length of texts. */
  readonly counts: boolean
  /** Ascending. */
  readonly terms: Uint32Array
  readonly capabilities: CapabilityTerms
  /** The hashes of the exact names of the document, each in two integers. */
  readonly names: Uint32Array
  /** The numbers of its words in the word list, ascending. */
  readonly words: Uint32Array
}

const maxByte = 0x80

/**
 * The numbers of a text, each in as many bytes as it needs, ascending ones by their differences: less than half the
 * memory of integers. The bytes fill a whole number of integers.
 */
export function packText({ length, counts, terms, names, words, capabilities }: IndexedText): Uint32Array {
  const bytes: number[] = []
  const put = (number: number) => {
    let rest = number
    for (; rest >= maxByte; rest = Math.floor(rest / maxByte)) bytes.push((rest % maxByte) + maxByte)
    bytes.push(rest)
  }
  const putAscending = (numbers: Uint32Array) => {
    for (let at = 0; at < numbers.length; at++) put((numbers[at] ?? 0) - (numbers[at - 1] ?? 0))
  }
  for (const number of [
    length,
    Number(counts),
    terms.length,
    names.length,
    words.length,
    capabilities.length,
  ])
    put(number)
  // What the hits of a search are asked for comes first.
  names.forEach(put)
  for (let at = 0; at < capabilities.length; at += 2) {
    put((capabilities[at] ?? 0) - (capabilities[at - 2] ?? 0))
    put(capabilities[at + 1] ?? 0)
  }
  putAscending(terms)
  putAscending(words)
  const packed = new Uint8Array(Math.ceil(bytes.length / 4) * 4)
  packed.set(bytes)
  return new Uint32Array(packed.buffer)
}

/** What `packText` packed; of an empty slot, a text without anything. */
export function unpackText(packed: Uint32Array): IndexedText {
  const take = numbersOf(packed)
  const { length, counts, terms, words, pairs, names } = takeHead(take)
  const capabilities = takeCapabilities(take, pairs)
  const takeAscending = (size: number) => {
    const numbers = new Uint32Array(size)
    let last = 0
    for (let at = 0; at < size; at++) {
      last += take()
      numbers[at] = last
    }
    return numbers
  }
  return { length, counts, names, capabilities, terms: takeAscending(terms), words: takeAscending(words) }
}

/** The names alone, which are at the beginning. */
export function unpackNames(packed: Uint32Array): Uint32Array {
  return takeHead(numbersOf(packed)).names
}

/** The terms of the capabilities alone, which come after the names. */
export function unpackCapabilities(packed: Uint32Array): CapabilityTerms {
  const take = numbersOf(packed)
  return takeCapabilities(take, takeHead(take).pairs)
}

function takeCapabilities(take: () => number, pairs: number): CapabilityTerms {
  const capabilities = new Uint32Array(pairs)
  let last = 0
  for (let at = 0; at < pairs; at += 2) {
    last += take()
    capabilities[at] = last
    capabilities[at + 1] = take()
  }
  return capabilities
}

function takeHead(take: () => number) {
  const [length, counts, terms, names, words, pairs] = [take(), take(), take(), take(), take(), take()]
  return { length, counts: counts === 1, terms, words, pairs, names: new Uint32Array(names).map(take) }
}

/** Takes one number after another. */
function numbersOf({ buffer, byteOffset, byteLength }: Uint32Array): () => number {
  const bytes = new Uint8Array(buffer, byteOffset, byteLength)
  let next = 0
  return () => {
    let number = 0
    for (let factor = 1; ; factor *= maxByte) {
      const byte = bytes[next++] ?? 0
      if (byte < maxByte) return number + byte * factor
      number += (byte - maxByte) * factor
    }
  }
}
