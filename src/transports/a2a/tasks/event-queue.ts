/** What one listener has yet to take. */
export interface Outlet<T> extends AsyncIterable<T> {
  push(item: T): void
  /** What is there is still taken; then it is over. */
  end(): void
  /** Nothing more is taken: the listener went away, or did not keep up. */
  cut(): void
  readonly isFull: () => boolean
  /** Resolves when there is room again. */
  readonly room: () => Promise<void>
}

/** A queue between those who tell and one who listens; `left` is called once, when the listener is done. */
export function createOutlet<T>(most: number, left: () => void): Outlet<T> {
  const waiting: T[] = []
  let over = false
  let gone = false
  let moved = Promise.withResolvers<void>()

  function move(): void {
    moved.resolve()
    moved = Promise.withResolvers()
  }

  const isFull = () => waiting.length >= most && !gone

  async function next(): Promise<IteratorResult<T, undefined>> {
    while (!gone) {
      const item = waiting.shift()
      if (item !== undefined) {
        move()
        return { value: item, done: false }
      }
      if (over) cut()
      else await moved.promise
    }
    return { value: undefined, done: true }
  }

  function cut(): void {
    if (gone) return
    gone = true
    waiting.length = 0
    left()
    move()
  }

  return {
    push(item) {
      if (over || gone) return
      waiting.push(item)
      move()
    },
    end() {
      over = true
      move()
    },
    cut,
    isFull,
    async room() {
      while (isFull()) await moved.promise
    },
    [Symbol.asyncIterator]: () => ({
      next,
      async return() {
        cut()
        return { value: undefined, done: true }
      },
    }),
  }
}
