/** The slots that share one term or value, ascending, each with a weight. */
export class PostingList {
  readonly key: string
  /** Tells it from every other list that its `Postings` ever had. */
  readonly serial: number
  size = 0
  /** How many of its slots count in statistics; kept by what owns the list. */
  counted = 0
  slots: Uint32Array = new Uint32Array(2)
  weights: Uint32Array = new Uint32Array(2)

  constructor(key: string, serial: number) {
    this.key = key
    this.serial = serial
  }

  has(slot: number): boolean {
    const index = this.#indexOf(slot)
    return index < this.size && this.slots[index] === slot
  }

  /** The slot must not be there yet. */
  add(slot: number, weight: number): void {
    if (this.size === this.slots.length) this.#grow()
    const index = this.#indexOf(slot)
    this.slots.copyWithin(index + 1, index, this.size)
    this.weights.copyWithin(index + 1, index, this.size)
    this.slots[index] = slot
    this.weights[index] = weight
    this.size++
  }

  /** The slot must be there. */
  remove(slot: number): void {
    const index = this.#indexOf(slot)
    this.slots.copyWithin(index, index + 1, this.size)
    this.weights.copyWithin(index, index + 1, this.size)
    this.size--
  }

  /** Where the slot is, or belongs. */
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
    this.slots = new Uint32Array(slots.length * 2)
    this.slots.set(slots)
    this.weights = new Uint32Array(weights.length * 2)
    this.weights.set(weights)
  }
}

/** Posting lists by key. A list that runs empty is dropped, so what is gone leaves nothing behind. */
export class Postings {
  readonly #lists = new Map<string, PostingList>()
  #created = 0

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
    if (list.size === 0) this.#lists.delete(list.key)
  }

  #create(key: string): PostingList {
    const list = new PostingList(key, this.#created++)
    this.#lists.set(key, list)
    return list
  }
}
