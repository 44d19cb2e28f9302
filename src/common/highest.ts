/** The `limit` highest of the offered numbers: a heap with the lowest of them on top. */
export class Highest {
  readonly #heap: Float64Array
  #size = 0

  constructor(limit: number) {
    this.#heap = new Float64Array(limit)
  }

  /** A number must exceed this to be taken. */
  get least(): number {
    return this.#size < this.#heap.length ? Number.NEGATIVE_INFINITY : (this.#heap[0] ?? 0)
  }

  offer(number: number): void {
    if (this.#size < this.#heap.length) this.#rise(number)
    else if (number > (this.#heap[0] ?? 0)) this.#sink(number)
  }

  #rise(number: number): void {
    const heap = this.#heap
    let index = this.#size++
    while (index > 0) {
      const parent = (index - 1) >> 1
      const above = heap[parent] ?? 0
      if (above <= number) break
      heap[index] = above
      index = parent
    }
    heap[index] = number
  }

  #sink(number: number): void {
    const heap = this.#heap
    const size = this.#size
    let index = 0
    for (let child = 1; child < size; child = index * 2 + 1) {
      if (child + 1 < size && (heap[child + 1] ?? 0) < (heap[child] ?? 0)) child++
      const below = heap[child] ?? 0
      if (below >= number) break
      heap[index] = below
      index = child
    }
    heap[index] = number
  }
}
