/** A bounded queue with a lane for each caller. Lanes take turns, so a caller with many items does not delay the others. */
export interface FairQueue<T> {
  readonly size: number
  /**
   * Adds an item. Returns the item that a full queue rejects: the newest item of the longest lane, or `item` itself
   * if no lane is longer than the caller's lane would become.
   */
  add(caller: string, item: T): T | undefined
  take(): T | undefined
  remove(item: T): void
}

/** A fair queue of at most `maxItems` items. */
export function createFairQueue<T>(maxItems: number): FairQueue<T> {
  /** In order of their turns; no lane is empty. */
  const lanes = new Map<string, T[]>()
  let size = 0

  function fullestLane(): T[] {
    return [...lanes.values()].reduce((fullest, lane) => (lane.length > fullest.length ? lane : fullest), [])
  }

  return {
    get size() {
      return size
    },
    add(caller, item) {
      const lane = lanes.get(caller) ?? []
      let evicted: T | undefined
      if (size >= maxItems) {
        const other = fullestLane()
        if (other.length <= lane.length + 1) return item
        evicted = other.pop()
        size--
      }
      lane.push(item)
      lanes.set(caller, lane)
      size++
      return evicted
    },
    take() {
      const [first] = lanes
      if (!first) return undefined
      const [caller, lane] = first
      const item = lane.shift()
      lanes.delete(caller)
      if (lane.length > 0) lanes.set(caller, lane)
      size--
      return item
    },
    remove(item) {
      for (const [caller, lane] of lanes) {
        const index = lane.indexOf(item)
        if (index === -1) continue
        lane.splice(index, 1)
        if (lane.length === 0) lanes.delete(caller)
        size--
      }
    },
  }
}
