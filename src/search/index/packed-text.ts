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
  /** The numbers of its own words in the word list, ascending, without those that only its capabilities have. */
  readonly own_words: Uint32Array
  /** The numbers of the other words. */
  readonly other_words: Uint32Array
}

const maxByte = 0x80

/**
 * The numbers of a text, each in as many bytes as it needs, ascending ones by their differences: less than half the
 * memory of integers. The bytes fill a whole number of integers.
 */
export function packText(text: IndexedText): Uint32Array {
  const { length, counts, terms, names, own_words, other_words, capabilities } = text
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
    own_words.length,
    other_words.length,
    capabilities.length,
  ])
    put(number)
  // What the hits of a search are asked for comes first.
  names.forEach(put)
  putAscending(own_words)
  for (let at = 0; at < capabilities.length; at += 2) {
    put((capabilities[at] ?? 0) - (capabilities[at - 2] ?? 0))
    put(capabilities[at + 1] ?? 0)
  }
  putAscending(terms)
  putAscending(other_words)
  const packed = new Uint8Array(Math.ceil(bytes.length / 4) * 4)
  packed.set(bytes)
  return new Uint32Array(packed.buffer)
}

/** What `packText` packed; of an empty slot, a text without anything. */
export function unpackText(packed: Uint32Array): IndexedText {
  const numbers = new PackedNumbers(packed)
  const { sizes, ...head } = takeHead(numbers)
  const own_words = takeAscending(numbers, sizes.own_words)
  const capabilities = takeCapabilities(numbers, sizes.capabilities)
  const terms = takeAscending(numbers, sizes.terms)
  return { ...head, own_words, capabilities, terms, other_words: takeAscending(numbers, sizes.other_words) }
}

/** The names alone, which are at the beginning. */
export function unpackNames(packed: Uint32Array): Uint32Array {
  return takeHead(new PackedNumbers(packed)).names
}

/** The own words alone, which come after the names. */
export function unpackOwnWords(packed: Uint32Array): Uint32Array {
  const numbers = new PackedNumbers(packed)
  return takeAscending(numbers, takeHead(numbers).sizes.own_words)
}

/** The terms of the capabilities alone, which come after the own words. */
export function unpackCapabilities(packed: Uint32Array): CapabilityTerms {
  const numbers = new PackedNumbers(packed)
  const { sizes } = takeHead(numbers)
  numbers.skip(sizes.own_words)
  return takeCapabilities(numbers, sizes.capabilities)
}

function takeAscending(numbers: PackedNumbers, size: number): Uint32Array {
  const ascending = new Uint32Array(size)
  let last = 0
  for (let at = 0; at < size; at++) {
    last += numbers.take()
    ascending[at] = last
  }
  return ascending
}

function takeCapabilities(numbers: PackedNumbers, pairs: number): CapabilityTerms {
  const capabilities = new Uint32Array(pairs)
  let last = 0
  for (let at = 0; at < pairs; at += 2) {
    last += numbers.take()
    capabilities[at] = last
    capabilities[at + 1] = numbers.take()
  }
  return capabilities
}

function takeHead(numbers: PackedNumbers) {
  const take = () => numbers.take()
  const [length, counts, terms, names] = [take(), take(), take(), take()]
  const sizes = { terms, own_words: take(), other_words: take(), capabilities: take() }
  return { length, counts: counts === 1, sizes, names: new Uint32Array(names).map(take) }
}

class PackedNumbers {
  readonly #bytes: Uint8Array
  #next = 0

  constructor({ buffer, byteOffset, byteLength }: Uint32Array) {
    this.#bytes = new Uint8Array(buffer, byteOffset, byteLength)
  }

  take(): number {
    let number = 0
    for (let factor = 1; ; factor *= maxByte) {
      const byte = this.#bytes[this.#next++] ?? 0
      if (byte < maxByte) return number + byte * factor
      number += (byte - maxByte) * factor
    }
  }

  /** The last byte of each number is the one below `maxByte`. */
  skip(count: number): void {
    for (let left = count; left > 0; ) if ((this.#bytes[this.#next++] ?? 0) < maxByte) left--
  }
}
