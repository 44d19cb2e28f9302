import { setImmediate } from 'node:timers/promises'

const maxSlice_ms = 4

/** Does the work for each item in turn, letting others go before whenever it has held the loop for a while. */
export async function inSlices<T>(items: Iterable<T>, work: (item: T) => void): Promise<void> {
  let end = performance.now() + maxSlice_ms
  for (const item of items) {
    work(item)
    if (performance.now() < end) continue
    await setImmediate()
    end = performance.now() + maxSlice_ms
  }
}
