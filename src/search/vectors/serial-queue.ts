/** Does one piece of work at a time, in the order asked for. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve()

  /** Starts the work when what came before has ended, well or not. */
  take<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work)
    this.#last = turn.catch(() => undefined)
    return turn
  }
}
