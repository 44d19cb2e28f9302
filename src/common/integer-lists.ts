import type { Pieces, Sections } from './sections.ts'

interface Page {
  readonly integers: Uint32Array
  /** Integers that lists have taken, and those of them whose lists still exist. */
  end: number
  live: number
}

/** Integers in a page: 1 MiB. */
const pageIntegers = 2 ** 18
/** A page with a smaller share of live integers is released; its lists move to another one. */
const leastShare = 1 / 4

/** Lists of integers by slot, in pages of 1 MiB: an array for each list would take more memory than its integers. */
export class IntegerLists {
  readonly #pages: (Page | undefined)[] = []
  /** The number of the page * its size + the index in it. */
  readonly #starts: number[] = []
  readonly #lengths: number[] = []
  /** Numbers of released pages. */
  readonly #free: number[] = []
  #current = -1

  /** Restores what `save` returned. */
  static async load(sections: Sections, part: string): Promise<IntegerLists> {
    const lists = new IntegerLists()
    for (const length of await sections.integers(`${part}.lengths`))
      lists.#place(lists.#starts.length, length)
    const pages = lists.#pages.flatMap((page) => page ?? [])
    await sections.fill(
      part,
      pages.map(({ integers, end }) => new Uint8Array(integers.buffer, 0, end * 4)),
    )
    return lists
  }

  /** Each piece is a page, without the integers of removed lists. */
  *save(part: string): Pieces {
    yield [`${part}.lengths`, Uint32Array.from(this.#lengths)]
    const page = new Uint32Array(pageIntegers)
    let end = 0
    for (let slot = 0; slot < this.#lengths.length; slot++) {
      const list = this.at(slot)
      if (end + list.length > pageIntegers) {
        yield [part, page.subarray(0, end)]
        end = 0
      }
      page.set(list, end)
      end += list.length
    }
    if (end > 0) yield [part, page.subarray(0, end)]
  }

  /** One more than the highest slot that was ever used. */
  get length(): number {
    return this.#lengths.length
  }

  /** A view of the list, valid until the next change; empty for a slot without one. */
  at(slot: number): Uint32Array {
    const start = this.#starts[slot] ?? 0
    const length = this.#lengths[slot] ?? 0
    const page = this.#pages[Math.floor(start / pageIntegers)]
    if (length === 0 || !page) return none
    const index = start % pageIntegers
    return page.integers.subarray(index, index + length)
  }

  /** Throws RangeError for a list longer than a page. */
  set(slot: number, list: ArrayLike<number>): void {
    this.delete(slot)
    if (list.length > pageIntegers) throw new RangeError(`A list has at most ${pageIntegers} integers.`)
    this.#place(slot, list.length)
    this.at(slot).set(list)
  }

  delete(slot: number): void {
    const length = this.#lengths[slot] ?? 0
    if (length === 0) return
    const number = Math.floor((this.#starts[slot] ?? 0) / pageIntegers)
    const page = this.#pages[number]
    this.#lengths[slot] = 0
    if (!page) return
    page.live -= length
    if (number !== this.#current && page.live < pageIntegers * leastShare) this.#release(number)
  }

  /** Takes space for a list. */
  #place(slot: number, length: number): void {
    this.#lengths[slot] = length
    this.#starts[slot] = 0
    // A page without integers would have no piece in a snapshot.
    if (length === 0) return
    let page = this.#pages[this.#current]
    if (!page || page.end + length > pageIntegers) {
      page = { integers: new Uint32Array(pageIntegers), end: 0, live: 0 }
      this.#current = this.#free.pop() ?? this.#pages.length
      this.#pages[this.#current] = page
    }
    this.#starts[slot] = this.#current * pageIntegers + page.end
    page.end += length
    page.live += length
  }

  #release(number: number): void {
    const page = this.#pages[number]
    if (!page) return
    this.#pages[number] = undefined
    for (let slot = 0; page.live > 0 && slot < this.#starts.length; slot++) {
      const length = this.#lengths[slot] ?? 0
      const start = this.#starts[slot] ?? 0
      if (length === 0 || Math.floor(start / pageIntegers) !== number) continue
      const index = start % pageIntegers
      this.#place(slot, length)
      this.at(slot).set(page.integers.subarray(index, index + length))
      page.live -= length
    }
    this.#free.push(number)
  }
}

const none = new Uint32Array(0)
