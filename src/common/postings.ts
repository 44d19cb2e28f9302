import { joinIntegers } from './ragged.ts'
import type { Parts, Sections } from './sections.ts'

/** The slots and weights of many lists, in one array each. */
interface SavedLists {
  readonly slots: Uint32Array
  readonly weights: Uint32Array
}

/** The slots that share one term or value, ascending, each with a weight. */
export class PostingList {
  readonly key: string
  /** Identifies the list within its `Postings`; the number of a removed list is reused. */
  readonly serial: number
  size: number
  /** Slots that count in statistics; maintained by the owner of the list. */
  counted = 0
  #slots: Uint32Array | undefined
  #weights: Uint32Array | undefined
  readonly #saved: SavedLists | undefined
  readonly #start: number

  /** Empty, or the saved part from `start` to `end`: most lists are never read, so their views are made on demand. */
  constructor(key: string, serial: number, saved?: SavedLists, start = 0, end = 0) {
    this.key = key
    this.serial = serial
    this.size = end - start
    this.#saved = saved
    this.#start = start
  }

  get slots(): Uint32Array {
    this.#slots ??= this.#saved?.slots.subarray(this.#start, this.#start + this.size) ?? new Uint32Array(2)
    return this.#slots
  }

  get weights(): Uint32Array {
    this.#weights ??=
      this.#saved?.weights.subarray(this.#start, this.#start + this.size) ?? new Uint32Array(2)
    return this.#weights
  }

  has(slot: number): boolean {
    const index = this.#indexOf(slot)
    return index < this.size && this.slots[index] === slot
  }

  /** The list must not contain the slot. */
  add(slot: number, weight: number): void {
    if (this.weights.length === this.size && this.slots.length === this.size) this.#grow()
    const index = this.#indexOf(slot)
    if (index < this.size) {
      this.slots.copyWithin(index + 1, index, this.size)
      this.weights.copyWithin(index + 1, index, this.size)
    }
    this.slots[index] = slot
    this.weights[index] = weight
    this.size++
  }

  /** The list must contain the slot. */
  remove(slot: number): void {
    const { weights } = this
    const index = this.#indexOf(slot)
    this.slots.copyWithin(index, index + 1, this.size)
    weights.copyWithin(index, index + 1, this.size)
    this.size--
  }

  /** The index of the slot, or the index to insert it at. */
  #indexOf(slot: number): number {
    let low = 0
    let high = this.size
    if (high > 0 && (this.slots[high - 1] ?? 0) < slot) return high
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.slots[middle] ?? 0) < slot) low = middle + 1
      else high = middle
    }
    return low
  }

  #grow(): void {
    const { slots, weights } = this
    this.#slots = new Uint32Array(slots.length * 2)
    this.#slots.set(slots)
    this.#weights = new Uint32Array(weights.length * 2)
    this.#weights.set(weights)
  }
}

/** Posting lists by key. An empty list is removed. */
export class Postings {
  readonly #lists = new Map<string, PostingList>()
  readonly #bySerial: (PostingList | undefined)[] = []
  readonly #free: number[] = []

  /** Restores the parts that `save` returned. Throws for other content. */
  static load(sections: Sections, prefix: string): Postings {
    const postings = new Postings()
    const keys = JSON.parse(sections.text(`${prefix}.keys`)) as string[]
    const serials = sections.integers(`${prefix}.serials`)
    const counted = sections.integers(`${prefix}.counted`)
    const ends = sections.integers(`${prefix}.ends`)
    const saved = {
      slots: sections.integers(`${prefix}.slots`),
      weights: sections.integers(`${prefix}.weights`),
    }
    keys.forEach((key, at) => {
      const list = new PostingList(key, serials[at] ?? 0, saved, at === 0 ? 0 : ends[at - 1], ends[at])
      list.counted = counted[at] ?? 0
      postings.#lists.set(key, list)
      postings.#bySerial[list.serial] = list
    })
    for (let serial = 0; serial < postings.#bySerial.length; serial++) {
      if (!postings.#bySerial[serial]) postings.#free.push(serial)
    }
    return postings
  }

  save(prefix: string): Parts {
    const lists = [...this.#lists.values()]
    const slots = joinIntegers(lists.map((list) => list.slots.subarray(0, list.size)))
    const weights = joinIntegers(lists.map((list) => list.weights.subarray(0, list.size)))
    return {
      [`${prefix}.keys`]: JSON.stringify(lists.map((list) => list.key)),
      [`${prefix}.serials`]: Uint32Array.from(lists, (list) => list.serial),
      [`${prefix}.counted`]: Uint32Array.from(lists, (list) => list.counted),
      [`${prefix}.ends`]: slots.ends,
      [`${prefix}.slots`]: slots.values,
      [`${prefix}.weights`]: weights.values,
    }
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
