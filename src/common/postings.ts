import { integerPieces, jsonArrays, jsonPieces } from './pieces.ts'
import type { Pieces, Sections } from './sections.ts'

/** The slots and weights of many lists, in one array each. */
interface SavedLists {
  readonly slots: Uint32Array
  readonly weights: Uint16Array
}

const maxWeight = 0xffff

/**
 * The slots that share one term or value, ascending, each with a weight. Most lists have one slot, for which two arrays
 * would take three times the memory of the list.
 */
export class PostingList {
  readonly key: string
  /** Identifies the list within its `Postings`; the number of a removed list is reused. */
  readonly serial: number
  size: number
  /** Slots that count in statistics; maintained by the owner of the list. */
  counted = 0
  #slots: Uint32Array | undefined
  #weights: Uint16Array | undefined
  /** Without arrays: the only slot and its weight, or the start of the saved part. */
  #saved: SavedLists | undefined
  #first: number
  #weight = 0

  /** Empty, or the saved part from `start` to `end`: most lists are never read, so their views are made on demand. */
  constructor(key: string, serial: number, saved?: SavedLists, start = 0, end = 0) {
    this.key = key
    this.serial = serial
    this.size = end - start
    this.#first = start
    if (!saved) return
    if (this.size > 1) this.#saved = saved
    else {
      this.#first = saved.slots[start] ?? 0
      this.#weight = saved.weights[start] ?? 0
    }
  }

  get slots(): Uint32Array {
    return this.#slots ?? this.#view()?.slots ?? Uint32Array.of(this.#first)
  }

  get weights(): Uint16Array {
    return this.#weights ?? this.#view()?.weights ?? Uint16Array.of(this.#weight)
  }

  /** Needs no array, unlike `slots`. */
  slotAt(index: number): number {
    if (this.#slots) return this.#slots[index] ?? 0
    return this.#saved ? (this.#saved.slots[this.#first + index] ?? 0) : this.#first
  }

  /** Needs no array, unlike `weights`. */
  weightAt(index: number): number {
    if (this.#weights) return this.#weights[index] ?? 0
    return this.#saved ? (this.#saved.weights[this.#first + index] ?? 0) : this.#weight
  }

  has(slot: number): boolean {
    if (this.size === 1) return this.slotAt(0) === slot
    const index = this.#indexOf(slot)
    return index < this.size && this.slotAt(index) === slot
  }

  /** The list must not contain the slot. A weight above 65,535 counts as that. */
  add(slot: number, weight: number): void {
    if (this.size === 0) {
      this.#slots = undefined
      this.#weights = undefined
      this.#saved = undefined
      this.#first = slot
      this.#weight = Math.min(weight, maxWeight)
      this.size = 1
      return
    }
    const { slots, weights } = this.#spacious()
    const index = this.#indexOf(slot)
    if (index < this.size) {
      slots.copyWithin(index + 1, index, this.size)
      weights.copyWithin(index + 1, index, this.size)
    }
    slots[index] = slot
    weights[index] = Math.min(weight, maxWeight)
    this.size++
  }

  /** The list must contain the slot. */
  remove(slot: number): void {
    const { slots, weights } = this
    const index = this.#indexOf(slot)
    slots.copyWithin(index, index + 1, this.size)
    weights.copyWithin(index, index + 1, this.size)
    this.size--
  }

  /** The index of the slot, or the index to insert it at. */
  #indexOf(slot: number): number {
    const { slots } = this
    let low = 0
    let high = this.size
    if (high > 0 && (slots[high - 1] ?? 0) < slot) return high
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((slots[middle] ?? 0) < slot) low = middle + 1
      else high = middle
    }
    return low
  }

  #view(): SavedLists | undefined {
    if (!this.#saved) return undefined
    this.#slots = this.#saved.slots.subarray(this.#first, this.#first + this.size)
    this.#weights = this.#saved.weights.subarray(this.#first, this.#first + this.size)
    this.#saved = undefined
    return { slots: this.#slots, weights: this.#weights }
  }

  /** Arrays with space for one more. */
  #spacious(): SavedLists {
    const { slots, weights } = this
    if (this.size < slots.length) return { slots, weights }
    const length = Math.max(4, Math.ceil(this.size * growth))
    const grown = { slots: new Uint32Array(length), weights: new Uint16Array(length) }
    grown.slots.set(slots)
    grown.weights.set(weights)
    this.#slots = grown.slots
    this.#weights = grown.weights
    return grown
  }
}

const growth = 1.5
/** Keys in one piece of a snapshot. */
const savedKeys = 10_000

/** Posting lists by key. An empty list is removed. */
export class Postings {
  readonly #lists = new Map<string, PostingList>()
  readonly #bySerial: (PostingList | undefined)[] = []
  readonly #free: number[] = []

  /** Restores what `save` returned. Throws for other content. */
  static async load(sections: Sections, prefix: string): Promise<Postings> {
    const postings = new Postings()
    const serials = await sections.integers(`${prefix}.serials`)
    const counted = await sections.integers(`${prefix}.counted`)
    const sizes = await sections.integers(`${prefix}.sizes`)
    const saved = {
      slots: await sections.integers(`${prefix}.slots`),
      weights: Uint16Array.from(await sections.integers(`${prefix}.weights`)),
    }
    let number = 0
    let start = 0
    for await (const keys of jsonArrays<string>(sections, `${prefix}.keys`)) {
      for (const key of keys) {
        const end = start + (sizes[number] ?? 0)
        const list = new PostingList(key, serials[number] ?? 0, saved, start, end)
        list.counted = counted[number] ?? 0
        postings.#lists.set(key, list)
        postings.#bySerial[list.serial] = list
        start = end
        number++
      }
    }
    for (let serial = 0; serial < postings.#bySerial.length; serial++) {
      if (!postings.#bySerial[serial]) postings.#free.push(serial)
    }
    return postings
  }

  *save(prefix: string): Pieces {
    const lists = this.#lists
    yield* jsonPieces(`${prefix}.keys`, lists.keys(), savedKeys)
    yield* integerPieces(
      `${prefix}.serials`,
      lists.values().map(({ serial }) => serial),
    )
    yield* integerPieces(
      `${prefix}.counted`,
      lists.values().map(({ counted }) => counted),
    )
    yield* integerPieces(
      `${prefix}.sizes`,
      lists.values().map(({ size }) => size),
    )
    yield* integerPieces(`${prefix}.slots`, each(lists.values(), 'slotAt'))
    yield* integerPieces(`${prefix}.weights`, each(lists.values(), 'weightAt'))
  }

  /** The list with this number, which must exist. */
  at(serial: number): PostingList {
    const list = this.#bySerial[serial]
    if (!list) throw new RangeError(`There is no list ${serial}.`)
    return list
  }

  get(key: string): PostingList | undefined {
    return this.#lists.get(key)
  }

  lists(): Iterable<PostingList> {
    return this.#lists.values()
  }

  add(key: string, slot: number, weight = 1): PostingList {
    const list = this.#lists.get(key) ?? this.#create(key)
    list.add(slot, weight)
    return list
  }

  remove(list: PostingList, slot: number): void {
    list.remove(slot)
    if (list.size > 0) return
    this.#lists.delete(list.key)
    this.#bySerial[list.serial] = undefined
    this.#free.push(list.serial)
  }

  #create(key: string): PostingList {
    const list = new PostingList(key, this.#free.pop() ?? this.#bySerial.length)
    this.#lists.set(key, list)
    this.#bySerial[list.serial] = list
    return list
  }
}

/** An integer of each item of the lists: an array of one, made and thrown away, takes ten times as long. */
function* each(lists: Iterable<PostingList>, integerAt: 'slotAt' | 'weightAt'): Generator<number> {
  for (const list of lists) for (let index = 0; index < list.size; index++) yield list[integerAt](index)
}
