/** Scores by slot for one query at a time, reused by the next: nothing is allocated for a document. */
export class Scoreboard {
  scores: Float64Array = new Float64Array(0)
  /** The slots with a score: the first `size` are valid. */
  slots: Uint32Array = new Uint32Array(0)
  size = 0

  /** Forgets every score and makes room for slots below `capacity`. */
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

  /** Keeps the slots with this mark; the others lose their score. */
  keep(marks: Uint16Array, mark: number): void {
    const { slots, scores } = this
    let kept = 0
    for (let index = 0; index < this.size; index++) {
      const slot = slots[index] ?? 0
      if (marks[slot] === mark) slots[kept++] = slot
      else scores[slot] = 0
    }
    this.size = kept
  }
}
