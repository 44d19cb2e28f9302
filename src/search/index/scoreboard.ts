/** Scores by slot for one query at a time. The next query reuses the board, so a document costs no allocation. */
export class Scoreboard {
  /** Scores without `factor`, which changes neither their order nor whether they are 0. */
  scores: Float64Array = new Float64Array(0)
  /** What every score is multiplied by: one number in place of a pass over all. */
  factor = 1
  /** The slots with a score: the first `size` are valid. */
  slots: Uint32Array = new Uint32Array(0)
  size = 0
  /** The highest sum of added scores. */
  highest = 0
  /** Exceeds every slot that has a score. */
  #capacity = 0

  /** Clears every score and allocates slots below `capacity`. */
  reset(capacity: number): void {
    // One after the other is faster than here and there.
    if (this.size > this.#capacity / 16) this.scores.fill(0, 0, this.#capacity)
    else for (let index = 0; index < this.size; index++) this.scores[this.slots[index] ?? 0] = 0
    this.size = 0
    this.highest = 0
    this.factor = 1
    this.#capacity = capacity
    if (capacity <= this.scores.length) return
    this.scores = new Float64Array(capacity * 2)
    this.slots = new Uint32Array(capacity * 2)
  }

  /** The score of a slot, 0 if it has none. */
  scoreOf(slot: number): number {
    return (this.scores[slot] ?? 0) * this.factor
  }

  /** The slot with the highest score of those with one that fit. `fits` is asked only of a slot that may be it. */
  bestOf(slots: Iterable<number>, fits: (slot: number) => boolean = () => true): number | undefined {
    let best: number | undefined
    let highest = 0
    for (const slot of slots) {
      const score = this.scoreOf(slot)
      if (score > highest && fits(slot)) [best, highest] = [slot, score]
    }
    return best
  }

  /** Adds to the score of a slot while `factor` is 1; `score` must be above zero. */
  add(slot: number, score: number): void {
    const before = this.scores[slot] ?? 0
    const sum = before + score
    if (before === 0) this.slots[this.size++] = slot
    this.scores[slot] = sum
    if (sum > this.highest) this.highest = sum
  }

  /** Sets the score of a slot, above zero. */
  set(slot: number, score: number): void {
    if (this.scores[slot] === 0) this.slots[this.size++] = slot
    this.scores[slot] = score / this.factor
  }

  /** Multiplies the score of each slot by its weight, above zero. */
  weigh(weights: readonly number[]): void {
    const { slots, scores, size } = this
    for (let index = 0; index < size; index++) {
      const slot = slots[index] ?? 0
      scores[slot] = (scores[slot] ?? 0) * (weights[slot] ?? 1)
    }
  }

  /** Keeps the slots with at least this score; clears the others. */
  keepFrom(minScore: number): void {
    const { slots, scores } = this
    let size = 0
    for (let index = 0; index < this.size; index++) {
      const slot = slots[index] ?? 0
      if (this.scoreOf(slot) >= minScore) slots[size++] = slot
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
