/** What waits, in a lane for each caller. Lanes take turns, so many things of one caller keep no other waiting. */
export interface FairQueue<T> {
  readonly size: number
  /**
   * Gives what finds no room: `item` itself, or, where its caller waits for less than another does, the newest of
   * that other's.
   */
  add(caller: string, item: T): T | undefined
  take(): T | undefined
  remove(item: T): void
}

/** A queue of at most `limit` things. */
export function createFairQueue<T>(limit: number): FairQueue<T> {
  /** In the order of their turns; none is empty. */
  const lanes = new Map<string, T[]>()
  let size = 0

  function longest(): T[] {
    return [...lanes.values()].reduce((most, lane) => (lane.length > most.length ? lane : most), [])
  }

  return {
    get size() {
      return size
    },
    add(caller, item) {
      const lane = lanes.get(caller) ?? []
      let out: T | undefined
      if (size >= limit) {
        const other = longest()
        if (other.length <= lane.length + 1) return item
        out = other.pop()
        size--
      }
      lane.push(item)
      lanes.set(caller, lane)
      size++
      return out
    },
    take() {
      const [turn] = lanes
      if (!turn) return undefined
      const [caller, lane] = turn
      const item = lane.shift()
      lanes.delete(caller)
      if (lane.length > 0) lanes.set(caller, lane)
      size--
      return item
    },
    remove(item) {
      for (const [caller, lane] of lanes) {
        const place = lane.indexOf(item)
        if (place === -1) continue
        lane.splice(place, 1)
        if (lane.length === 0) lanes.delete(caller)
        size--
      }
    },
  }
}
