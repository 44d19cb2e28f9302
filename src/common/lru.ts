/** Options of an `LRUCache` of at most `entries` entries. Unlike `max`, they allocate no memory in advance. */
export function upTo(entries: number): { maxSize: number; sizeCalculation: () => number } {
  return { maxSize: entries, sizeCalculation: () => 1 }
}
