import { isRecord, type Json, type JsonObject } from '../../../../schemas/json.ts'

/** A block of an MCP result (ContentBlock). */
export type Block = JsonObject

/** A place in a row of blocks: the number of the block, and the characters of its text that come before. */
export type Position = readonly [block: number, offset: number]

export const start: Position = [0, 0]

/** Characters that a picture or a sound counts as: models pay for them by their own measure, not by their bytes. */
const mediaCharacters = 6400

export function costOf(block: Block): number {
  if (block.type === 'text' && typeof block.text === 'string') return block.text.length
  if (block.type === 'image' || block.type === 'audio') return mediaCharacters
  return JSON.stringify(block).length
}

/** Characters from a position on. */
export function costFrom(blocks: readonly Block[], [block, offset]: Position): number {
  return blocks
    .slice(block)
    .reduce((sum, whole, index) => sum + costOf(index === 0 ? slice(whole, offset) : whole), 0)
}

interface Taken {
  readonly blocks: Block[]
  /** Where the rest begins; absent at the end. */
  readonly rest?: Position
}

/**
 * The blocks from a position on that fit into so many characters. A text that does not fit is cut after a line, or
 * within a line that is longer than so many characters. At least one block, or a part of it, is taken.
 */
export function take(blocks: readonly Block[], [block, offset]: Position, room: number): Taken {
  const taken: Block[] = []
  let left = room
  for (const [index, whole] of [...blocks.entries()].slice(block)) {
    const before = index === block ? offset : 0
    const rest = slice(whole, before)
    const cost = costOf(rest)
    if (cost <= left) {
      taken.push(rest)
      left -= cost
      continue
    }
    const text = textIn(rest)
    const length = text === undefined ? 0 : lengthThatFits(text, left, taken.length === 0)
    const isPart = text !== undefined && length > 0 && length < text.length
    if (isPart) return { blocks: [...taken, slice(rest, 0, length)], rest: [index, before + length] }
    if (taken.length > 0) return { blocks: taken, rest: [index, before] }
    return { blocks: [rest], ...(index + 1 < blocks.length && { rest: [index + 1, 0] as const }) }
  }
  return { blocks: taken }
}

/** Length of the lines that fit, with the part that fits of a line longer than the room if there must be text; else 0. */
function lengthThatFits(text: string, room: number, isNeeded: boolean): number {
  const lines = text.lastIndexOf('\n', room - 1) + 1
  const end = text.indexOf('\n', lines)
  const isLong = (end === -1 ? text.length : end) - lines > room
  if ((lines > 0 && !isLong) || !isNeeded) return lines
  const isPair = /[\uD800-\uDBFF]/.test(text[room - 1] ?? '')
  return Math.max(1, isPair ? room - 1 : room)
}

/** The text of a block that can be cut. */
function textIn({ type, text, resource }: Block): string | undefined {
  const value: Json | undefined = type === 'resource' && isRecord(resource) ? resource.text : text
  return typeof value === 'string' ? value : undefined
}

function slice(block: Block, start: number, end?: number): Block {
  const text = textIn(block)
  if (text === undefined || (start === 0 && end === undefined)) return block
  const part = text.slice(start, end)
  const { resource } = block
  return isRecord(resource)
    ? { ...block, resource: { ...resource, text: part } as Json }
    : { ...block, text: part }
}
