import type { Store } from '../../src/store/store.ts'

/** The store that `current` returns at the time of each read, as after a failover. Disposing it closes none. */
export function currentStore(current: () => Store): Store {
  return {
    ...current(),
    changes: (...range) => current().changes(...range),
    get read() {
      return current().read
    },
    [Symbol.asyncDispose]: async () => {},
  }
}
