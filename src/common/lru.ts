/** Options of an `LRUCache` of at most so many entries; unlike `max`, they allocate nothing in advance. */
export function upTo(entries: number): { maxSize: number; sizeCalculation: () => number } {
  return { maxSize: entries, sizeCalculation: () => 1 }
}
