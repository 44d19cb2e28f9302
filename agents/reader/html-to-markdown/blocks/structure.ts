import { type Block, type Container, levelOf } from './blocks.ts'

const max = { of_chars: 100, of_prose: 0.5 }

/** True for a data table, which is content as a whole or not at all; false for a layout table. */
export function isOneTable(container: Container): boolean {
  if (container.tag !== 'table' || container.blocks < 2) return false
  return container.chars / container.blocks < max.of_chars && container.prose < max.of_prose * container.chars
}

/** Leaves out headings whose section has no chosen block. */
export function leaveOutEmptySections(chosen: Set<Block>, blocks: readonly Block[]): void {
  /** The next chosen block: the level of a heading, Infinity for text, 0 for none. */
  let next = 0
  for (const block of blocks.toReversed()) {
    if (!chosen.has(block)) continue
    const level = levelOf(block.container)
    if (level > 0 && level >= next) chosen.delete(block)
    else next = level || Number.POSITIVE_INFINITY
  }
}
