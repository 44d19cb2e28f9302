import { setImmediate } from 'node:timers/promises'

const maxSlice_ms = 4

/** Calls `work` for each item in turn, and yields to the event loop after each time slice. */
export async function inSlices<T>(items: Iterable<T>, work: (item: T) => void): Promise<void> {
  let end = performance.now() + maxSlice_ms
  for (const item of items) {
    work(item)
    if (performance.now() < end) continue
    await setImmediate()
    end = performance.now() + maxSlice_ms
  }
}
