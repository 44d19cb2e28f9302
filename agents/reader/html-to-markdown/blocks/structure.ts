import { type Block, levelOf, type Place } from './blocks.ts'

const most = { of_chars: 100, of_prose: 0.5 }

/** A table of data, which is taken or left as a whole; one that lays out a page is not. */
export function isOneTable(place: Place): boolean {
  if (place.tag !== 'table' || place.blocks < 2) return false
  return place.chars / place.blocks < most.of_chars && place.prose < most.of_prose * place.chars
}

/** A heading goes where nothing of its section is kept. */
export function leaveOutEmptySections(kept: Set<Block>, blocks: readonly Block[]): void {
  /** What is kept next: a heading of this level, text (Infinity), or nothing (0). */
  let next = 0
  for (const block of blocks.toReversed()) {
    if (!kept.has(block)) continue
    const level = levelOf(block.place)
    if (level > 0 && level >= next) kept.delete(block)
    else next = level || Number.POSITIVE_INFINITY
  }
}
