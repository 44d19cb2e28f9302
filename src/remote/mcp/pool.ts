import { LRUCache } from 'lru-cache'
import { abortable } from '../../common/abort.ts'

/** Things that cost something to open, kept for one caller each while they are used, and a while longer. */
export interface Pool<Item extends AsyncDisposable> extends AsyncDisposable {
  /** Works with the caller's item, which is opened where there is none. What was opened for one serves no other. */
  use<Value>(
    caller: string,
    signal: AbortSignal,
    open: () => Promise<Item>,
    work: (item: Item) => Promise<Value>,
  ): Promise<Value>
  /** Nobody gets this one any more; it is closed once nobody uses it. */
  drop(item: Item): void
}

interface Kept<Item> {
  readonly caller: string
  readonly opening: Promise<Item>
  /** Of the call that it is opened for. */
  readonly signal: AbortSignal
  item?: Item
  users: number
  dropped: boolean
  idle?: NodeJS.Timeout
}

export interface PoolOptions {
  /** How many are kept. */
  readonly most: number
  /** How long one is kept that nobody uses, in milliseconds. */
  readonly idle_ms: number
}

export function createPool<Item extends AsyncDisposable>({ most, idle_ms }: PoolOptions): Pool<Item> {
  const closing = new Set<Promise<void>>()
  const pool = new LRUCache<string, Kept<Item>>({ max: most, dispose: forget })

  function forget(kept: Kept<Item>): void {
    kept.dropped = true
    if (kept.users === 0) close(kept)
  }

  function close({ opening, idle }: Kept<Item>): void {
    clearTimeout(idle)
    const closed = opening.then((item) => item[Symbol.asyncDispose]()).catch(() => {})
    closing.add(closed)
    void closed.finally(() => closing.delete(closed))
  }

  /** Lets go of one that is no longer to be given out, if it is still the caller's. */
  function remove(kept: Kept<Item>): void {
    if (pool.peek(kept.caller) === kept) pool.delete(kept.caller)
  }

  function start(caller: string, signal: AbortSignal, open: () => Promise<Item>): Kept<Item> {
    const kept: Kept<Item> = { caller, opening: open(), signal, users: 0, dropped: false }
    kept.opening.then(
      (item) => {
        kept.item = item
      },
      () => remove(kept),
    )
    pool.set(caller, kept)
    return kept
  }

  function release(kept: Kept<Item>): void {
    kept.users--
    if (kept.users > 0) return
    if (kept.dropped) {
      close(kept)
      return
    }
    kept.idle = setTimeout(() => remove(kept), idle_ms)
    kept.idle.unref()
  }

  return {
    async use(caller, signal, open, work) {
      while (true) {
        const known = pool.get(caller)
        const kept = known ?? start(caller, signal, open)
        kept.users++
        clearTimeout(kept.idle)
        try {
          const item = await abortable(kept.opening, signal).catch((error: unknown) => {
            const isOthersEnd = known !== undefined && kept.signal.aborted && !signal.aborted
            if (!isOthersEnd) throw error
            return undefined
          })
          if (item !== undefined) return await work(item)
        } finally {
          release(kept)
        }
      }
    },
    drop(item) {
      for (const kept of pool.values()) if (kept.item === item) return remove(kept)
    },
    async [Symbol.asyncDispose]() {
      pool.clear()
      await Promise.all(closing)
    },
  }
}
