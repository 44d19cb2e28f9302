/** A bounded queue between a producer and one listener, who iterates over it once. */
export class EventQueue<T> implements AsyncIterable<T> {
  readonly #max: number
  readonly #onLeave: () => void
  readonly #items: T[] = []
  #isEnded = false
  #isLeft = false
  #changed = Promise.withResolvers<void>()

  /** `onLeave` is called once, when the listener is done. */
  constructor(max: number, onLeave: () => void) {
    this.#max = max
    this.#onLeave = onLeave
  }

  push(item: T): void {
    if (this.#isEnded || this.#isLeft) return
    this.#items.push(item)
    this.#signal()
  }

  /** Ends the queue after the items that it holds. */
  end(): void {
    this.#isEnded = true
    this.#signal()
  }

  /** Ends the queue at once: the listener disconnected, or did not keep up. */
  leave(): void {
    if (this.#isLeft) return
    this.#isLeft = true
    this.#items.length = 0
    this.#onLeave()
    this.#signal()
  }

  get isFull(): boolean {
    return this.#items.length >= this.#max && !this.#isLeft
  }

  /** Resolves when the queue is not full. */
  async ready(): Promise<void> {
    while (this.isFull) await this.#changed.promise
  }

  [Symbol.asyncIterator](): AsyncIterator<T, undefined> {
    return {
      next: () => this.#next(),
      return: async () => {
        this.leave()
        return { value: undefined, done: true }
      },
    }
  }

  async #next(): Promise<IteratorResult<T, undefined>> {
    while (!this.#isLeft) {
      const item = this.#items.shift()
      if (item !== undefined) {
        this.#signal()
        return { value: item, done: false }
      }
      if (this.#isEnded) this.leave()
      else await this.#changed.promise
    }
    return { value: undefined, done: true }
  }

  #signal(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }
}
