import { LRUCache } from 'lru-cache'
import type { Failure } from '../../../schemas/failure.ts'
import { abortable } from '../../common/abort.ts'

interface PoolEntry<Item> {
  readonly key: string
  readonly opening: Promise<Item>
  /** Signal of the call for which the item is opened. */
  readonly signal: AbortSignal
  item?: Item
  users: number
  isDropped: boolean
  idleTimer?: NodeJS.Timeout
}

interface PoolOptions<Item> {
  readonly max_items: number
  /** Milliseconds for which an unused item is kept. */
  readonly idle_ms: number
  /** True for an item that is kept for longer, although nobody uses it. */
  readonly keeps?: (item: Item) => boolean
  /**
   * Makes `max_items` strict: an item is opened once an unused one is closed, or refused with this Failure if all are in
   * use. Absent: one more is opened, and the least recently used one is closed after its use.
   */
  readonly refuse?: () => Failure
}

/** Items of a strict pool that are open or wait for room. */
const maxOpening = 1_000

/** Items that are expensive to open, one per key. Each is kept while it is used, and for some time after. */
export class Pool<Item extends AsyncDisposable> implements AsyncDisposable {
  readonly #options: PoolOptions<Item>
  readonly #closing = new Set<Promise<void>>()
  readonly #entries: LRUCache<string, PoolEntry<Item>>

  constructor(options: PoolOptions<Item>) {
    this.#options = options
    const max = options.refuse ? maxOpening : options.max_items
    this.#entries = new LRUCache({ max, dispose: (entry) => this.#onRemoved(entry) })
  }

  /** Runs the work with the item of the key, which is opened if there is none. */
  async use<Value>(
    key: string,
    signal: AbortSignal,
    open: () => Promise<Item>,
    work: (item: Item) => Promise<Value>,
  ): Promise<Value> {
    while (true) {
      const existing = this.#entries.get(key)
      const entry = existing ?? this.#start(key, signal, open)
      entry.users++
      try {
        const item =
          entry.item ??
          (await abortable(entry.opening, signal).catch((error: unknown) => {
            // The call for which the item was opened has ended: opens an item for this call.
            const isOthersEnd = existing !== undefined && entry.signal.aborted && !signal.aborted
            if (!isOthersEnd) throw error
            return undefined
          }))
        if (item !== undefined) return await work(item)
      } finally {
        this.#release(entry)
      }
    }
  }

  /** Takes an item out of the pool; it is closed when its last user has finished. */
  drop(item: Item): void {
    const entry = [...this.#entries.values()].find((candidate) => candidate.item === item)
    if (entry) this.#remove(entry)
  }

  /** Takes the items whose keys begin with a text out of the pool. `inUse`: closes even those that are in use. */
  dropAll(prefix: string, inUse = false): void {
    for (const entry of [...this.#entries.values()]) {
      if (!entry.key.startsWith(prefix)) continue
      this.#remove(entry)
      if (inUse && entry.users > 0) this.#close(entry)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#entries.clear()
    await Promise.all(this.#closing)
  }

  #start(key: string, signal: AbortSignal, open: () => Promise<Item>): PoolEntry<Item> {
    const opening = this.#options.refuse ? Promise.resolve().then(() => this.#whenRoom(open)) : open()
    const entry: PoolEntry<Item> = { key, opening, signal, users: 0, isDropped: false }
    entry.opening.then(
      (item) => {
        entry.item = item
      },
      () => this.#remove(entry),
    )
    this.#entries.set(key, entry)
    return entry
  }

  /** Opens an item, whose entry exists already, once the pool has room for it. */
  async #whenRoom(open: () => Promise<Item>): Promise<Item> {
    const { max_items, refuse } = this.#options
    while (this.#entries.size + this.#closing.size > max_items) {
      const unused = [...this.#entries.rvalues()].find((entry) => entry?.users === 0)
      if (unused) this.#remove(unused)
      if (this.#closing.size === 0) throw refuse?.()
      await Promise.race(this.#closing)
    }
    return await open()
  }

  #release(entry: PoolEntry<Item>): void {
    entry.users--
    if (entry.users > 0) return
    if (entry.isDropped) {
      this.#close(entry)
      return
    }
    // Starting a timer again costs less than clearing it at each use.
    entry.idleTimer ??= setTimeout(() => this.#onIdle(entry), this.#options.idle_ms).unref()
    entry.idleTimer.refresh()
  }

  #onIdle(entry: PoolEntry<Item>): void {
    if (entry.users > 0) return
    if (entry.item !== undefined && this.#options.keeps?.(entry.item)) entry.idleTimer?.refresh()
    else this.#remove(entry)
  }

  /** Removes an entry, unless its key has a newer one. */
  #remove(entry: PoolEntry<Item>): void {
    if (this.#entries.peek(entry.key) === entry) this.#entries.delete(entry.key)
  }

  #onRemoved(entry: PoolEntry<Item>): void {
    entry.isDropped = true
    if (entry.users === 0) this.#close(entry)
  }

  #close({ opening, idleTimer }: PoolEntry<Item>): void {
    clearTimeout(idleTimer)
    const closed = opening.then((item) => item[Symbol.asyncDispose]()).catch(() => {})
    this.#closing.add(closed)
    void closed.finally(() => this.#closing.delete(closed))
  }
}
