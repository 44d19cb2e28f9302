import { type Block, type Container, levelOf } from './blocks.ts'

const max = { of_chars: 100, of_prose: 0.5 }

/** A table of data, which is taken or left as a whole; one that lays out a page is not. */
export function isOneTable(container: Container): boolean {
  if (container.tag !== 'table' || container.blocks < 2) return false
  return container.chars / container.blocks < max.of_chars && container.prose < max.of_prose * container.chars
}

/** A heading goes where nothing of its section is kept. */
export function leaveOutEmptySections(chosen: Set<Block>, blocks: readonly Block[]): void {
  /** What is kept next: a heading of this level, text (Infinity), or nothing (0). */
  let next = 0
  for (const block of blocks.toReversed()) {
    if (!chosen.has(block)) continue
    const level = levelOf(block.container)
    if (level > 0 && level >= next) chosen.delete(block)
    else next = level || Number.POSITIVE_INFINITY
  }
}
