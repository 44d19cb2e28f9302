/** Entries that may be among the best, without an object for each. */
export class Candidates {
  size = 0
  /** Which entry: number of its slab in the plan * slabRows + its index there. */
  entries: Uint32Array = new Uint32Array(1024)
  /** The most and the least that the similarity can be. */
  uppers: Float32Array = new Float32Array(1024)
  lowers: Float32Array = new Float32Array(1024)

  add(entry: number, upper: number, lower: number): void {
    if (this.size === this.entries.length) this.#grow()
    this.entries[this.size] = entry
    this.uppers[this.size] = upper
    this.lowers[this.size] = lower
    this.size++
  }

  #grow(): void {
    const { entries, uppers, lowers } = this
    this.entries = new Uint32Array(entries.length * 2)
    this.entries.set(entries)
    this.uppers = new Float32Array(uppers.length * 2)
    this.uppers.set(uppers)
    this.lowers = new Float32Array(lowers.length * 2)
    this.lowers.set(lowers)
  }
}
