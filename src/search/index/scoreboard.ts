/** Factors of scores by slot, 1 where none is set. In a map, a million of them would take 50 ms of each search. */
export class SlotFactors {
  #factors = new Float64Array(0)

  of(slot: number): number {
    return this.#factors[slot] ?? 1
  }

  set(slot: number, factor: number): void {
    if (slot >= this.#factors.length) {
      const grown = new Float64Array(Math.ceil(slot * 1.1) + 16).fill(1)
      grown.set(this.#factors)
      this.#factors = grown
    }
    this.#factors[slot] = factor
  }
}

/** Scores by slot for one query at a time. The next query reuses the board, so a document costs no allocation. */
export class Scoreboard {
  scores: Float64Array = new Float64Array(0)
  /** The slots with a score: the first `size` are valid. */
  slots: Uint32Array = new Uint32Array(0)
  size = 0

  /** Clears every score and allocates slots below `capacity`. */
  reset(capacity: number): void {
    for (let index = 0; index < this.size; index++) this.scores[this.slots[index] ?? 0] = 0
    this.size = 0
    if (capacity <= this.scores.length) return
    this.scores = new Float64Array(capacity * 2)
    this.slots = new Uint32Array(capacity * 2)
  }

  /** Adds to the score of a slot; `score` must be above zero. */
  add(slot: number, score: number): void {
    const before = this.scores[slot] ?? 0
    if (before === 0) this.slots[this.size++] = slot
    this.scores[slot] = before + score
  }

  /** The highest score; 0 without a score. */
  highest(): number {
    let highest = 0
    for (let index = 0; index < this.size; index++) {
      highest = Math.max(highest, this.scores[this.slots[index] ?? 0] ?? 0)
    }
    return highest
  }

  /** Multiplies every score; `factor` must be above zero. */
  scale(factor: number): void {
    for (let index = 0; index < this.size; index++) {
      const slot = this.slots[index] ?? 0
      this.scores[slot] = (this.scores[slot] ?? 0) * factor
    }
  }

  /** Multiplies every score by the factor of its slot, which is above zero. */
  weigh(factors: SlotFactors): void {
    const { slots, scores } = this
    for (let index = 0; index < this.size; index++) {
      const slot = slots[index] ?? 0
      scores[slot] = (scores[slot] ?? 0) * factors.of(slot)
    }
  }

  /** Keeps the slots with at least this score; clears the others. */
  keepFrom(minScore: number): void {
    const { slots, scores } = this
    let size = 0
    for (let index = 0; index < this.size; index++) {
      const slot = slots[index] ?? 0
      if ((scores[slot] ?? 0) >= minScore) slots[size++] = slot
      else scores[slot] = 0
    }
    this.size = size
  }

  /** Clears the scores of these slots. */
  drop(dropped: ReadonlySet<number>): void {
    const { slots, scores } = this
    let size = 0
    for (let index = 0; index < this.size; index++) {
      const slot = slots[index] ?? 0
      if (dropped.has(slot)) scores[slot] = 0
      else slots[size++] = slot
    }
    this.size = size
  }
}
