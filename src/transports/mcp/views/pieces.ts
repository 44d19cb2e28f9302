import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Content } from '../../../../schemas/content.ts'
import type { ContentMark } from '../../../../schemas/content-mark.ts'
import { Failure } from '../../../../schemas/failure.ts'
import { isRecord, type Json, type JsonObject } from '../../../../schemas/json.ts'
import { decodeCursor, encodeCursor } from '../../../common/cursor.ts'
import { resultOf } from '../../shared/content.ts'
import { type Block, costFrom, costOf, type Position, start, take } from './blocks.ts'
import { jsonLines } from './json-lines.ts'

/** The answer to a call: the output of the action, and what a listed agent said beside it. */
export interface Answer {
  readonly output: Json
  readonly mark?: ContentMark
  readonly content?: Content
}

/**
 * Answers of bounded size: an answer that exceeds the budget of its caller comes in pieces, which end at a block or a
 * line, and each piece has a cursor for the next one.
 */
interface Pieces {
  /** The answer, or its first piece. */
  first(answer: Answer, caller: string, tokens: number): Answer
  /** The piece at a cursor. Throws Failure `invalid_request` and `cursor_expired`. */
  next(cursor: string, caller: string, tokens: number): Answer
}

/** An answer that is sent in pieces. */
interface LongAnswer {
  readonly id: string
  readonly blocks: readonly Block[]
  readonly mark: ContentMark | undefined
  /** The agent answered with blocks; else the blocks are the text of a JSON output. */
  readonly isContent: boolean
  readonly isError: boolean
  /** Milliseconds since the epoch. */
  readonly until: number
}

export const defaultTokens = 20_000
const charactersPerToken = 4
const lifetime_ms = 600_000
const maxPerCaller = 4
/** Characters of all answers in this process. */
const maxCharacters = 64 * 1024 * 1024

export function createPieces(clock: () => number): Pieces {
  const answers = new LRUCache<string, readonly LongAnswer[]>({
    maxSize: maxCharacters,
    sizeCalculation: (list) => 1 + list.reduce((sum, { blocks }) => sum + JSON.stringify(blocks).length, 0),
  })

  function keep(caller: string, answer: LongAnswer): void {
    const others = (answers.get(caller) ?? []).filter(({ until }) => until > clock())
    answers.set(caller, [...others, answer].slice(-maxPerCaller))
  }

  return {
    first(answer, caller, tokens) {
      const room = tokens * charactersPerToken
      const { output, content, mark } = answer
      const result = content && resultOf(content)
      if (sizeOf(result ?? output) <= room) return answer
      const blocks = result ? blocksOf(result) : [textOf(output)]
      const held: LongAnswer = {
        id: randomUUID(),
        blocks,
        mark,
        isContent: result !== undefined,
        isError: result?.isError === true,
        until: clock() + lifetime_ms,
      }
      keep(caller, held)
      return piece(held, start, room)
    },
    next(cursor, caller, tokens) {
      const [id, ...position] = readCursor(cursor)
      const held = answers.get(caller)?.find((answer) => answer.id === id && answer.until > clock())
      if (!held) throw expired()
      return piece(held, position, tokens * charactersPerToken)
    },
  }
}

function piece(answer: LongAnswer, position: Position, room: number): Answer {
  const { blocks, rest } = take(answer.blocks, position, room)
  const more = rest && { next_cursor: encodeCursor([answer.id, ...rest]), next: nextOf(answer, rest) }
  const mark = answer.mark && { mark: answer.mark }
  if (!answer.isContent)
    return { output: { text: blocks.map(({ text }) => text).join(''), ...more }, ...mark }
  const shown = more ? [...blocks, { type: 'text', text: JSON.stringify(more) }] : blocks
  const result = { content: shown, ...(answer.isError && { isError: true }) }
  return { output: null, content: { protocol: 'mcp', result }, ...mark }
}

/** A model decides by the size whether it reads on or asks the agent for less. */
function nextOf({ blocks }: LongAnswer, rest: Position): string {
  const tokens = Math.ceil(costFrom(blocks, rest) / charactersPerToken)
  const size = Number(tokens.toPrecision(2)).toLocaleString('en-US')
  return `The answer goes on, by some ${size} tokens. Call the tool call_agent with the same agent and action, and with cursor: next_cursor, for the next piece.`
}

/** Characters that a model reads: of the blocks, or of the structured content, whichever are more. */
function sizeOf(answer: Json): number {
  const { content, structuredContent } = isRecord(answer) ? answer : {}
  if (!Array.isArray(content)) return JSON.stringify(answer).length
  const structured = structuredContent === undefined ? 0 : JSON.stringify(structuredContent).length
  return Math.max(
    structured,
    content.filter(isRecord).reduce((sum, block) => sum + costOf(block as Block), 0),
  )
}

/** The blocks of a result, and its structured content as the last one, in place of texts that repeat it. */
function blocksOf({ content, structuredContent }: JsonObject): Block[] {
  const blocks = (Array.isArray(content) ? content.filter(isRecord) : []) as Block[]
  if (structuredContent === undefined) return blocks
  const structured = JSON.stringify(structuredContent)
  const others = blocks.filter(({ text }) => typeof text !== 'string' || !isSameJson(text, structured))
  return [...others, textOf(structuredContent)]
}

function isSameJson(text: string, json: string): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === json
  } catch {
    return false
  }
}

/** A JSON value as text in lines; a value that is only a text is that text. */
function textOf(value: Json): Block {
  const only = isRecord(value) && Object.keys(value).length === 1 ? value.text : value
  return { type: 'text', text: typeof only === 'string' ? only : jsonLines(value) }
}

function readCursor(cursor: string): readonly [id: string, block: number, offset: number] {
  const [id, block, offset] = asArray(decodeCursor(cursor))
  const isPosition = [block, offset].every((number) => Number.isSafeInteger(number) && Number(number) >= 0)
  if (typeof id === 'string' && isPosition) return [id, Number(block), Number(offset)]
  throw Failure.invalidField('/cursor', 'Send next_cursor of the previous piece unchanged.')
}

function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function expired(): Failure {
  return new Failure(
    'cursor_expired',
    'The rest of this answer is kept for ten minutes, and no longer there.',
    {
      hint: 'Call the action again, with a higher max_tokens if you need it whole.',
    },
  )
}
