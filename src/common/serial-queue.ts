/** Runs pieces of work one at a time, in the order of the calls. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve()

  /** Starts the work after the earlier ones have settled. */
  take<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work)
    this.#last = turn.catch(() => undefined)
    return turn
  }
}
