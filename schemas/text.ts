import type { z } from 'zod'
import { isRecord } from './json.ts'

/**
 * Bidi controls, zero-width characters, fillers, controls except tab and line breaks, and halves of surrogate pairs.
 */
const hidden =
  /[[\p{Control}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{Surrogate}\u2028\u2029\uFFF9-\uFFFB]--[\t\n\r\u200C\u200D\p{Variation_Selector}\u{E0020}-\u{E007F}]]/v
/** Joiners belong between letters of some scripts and within emoji, never beside ASCII or at an end. */
const strayJoiner = /(?:^|\p{ASCII})[\u200C\u200D]|[\u200C\u200D](?:$|\p{ASCII})/u
/**
 * Joiners and variation selectors can encode bits if several follow one another; ideographs alone have many variants.
 */
const row = /[\u200C\u200D]{2}|\p{Variation_Selector}{2}/u
const strayVariant =
  /(?:^|[\p{ASCII}--[#*0-9]])\p{Variation_Selector}|(?<!\p{Unified_Ideograph})[\u{E0100}-\u{E01EF}]/v
/** Tag characters can encode invisible text, except in the flags of England, Scotland and Wales (UTS #51). */
const flags = /\u{1F3F4}[\u{E0061}-\u{E007A}]{1,6}\u{E007F}/gu
const tags = /[\u{E0020}-\u{E007F}]/u

/** Most texts: no character of ASCII but controls hides anything. */
const plain = /^[\t\n\r\x20-\x7E]*$/

/** True if a text has invisible characters or characters that reorder the visible text. */
export function hidesCharacters(text: string): boolean {
  if (plain.test(text)) return false
  if (hidden.test(text) || tags.test(text.replace(flags, ''))) return true
  return strayJoiner.test(text) || row.test(text) || strayVariant.test(text)
}

const invisible =
  /[[\p{Control}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{Surrogate}\u2028\u2029\uFFF9-\uFFFB]--[\t\n\r]]/gv

/** The text without the characters that it hides; a text that hides none stays as it is. */
export function withoutHidden(text: string): string {
  return hidesCharacters(text) ? text.replace(invisible, '') : text
}

/** The text in one line, without the characters that it hides: it can imitate no other line beside it. */
export function inOneLine(text: string): string {
  return withoutHidden(text).replaceAll(/\s+/g, ' ').trim()
}

/**
 * A name that somebody else chose, within a text of the gateway: one that is more than a word is quoted, so that it
 * cannot go on as the text.
 */
export function quotedName(name: string): string {
  const shown = withoutHidden(name)
  return /^[\p{Letter}\p{Number}_.:/-]+$/u.test(shown) ? shown : JSON.stringify(shown)
}

/** Zero-width spaces and byte order marks, which copying and exporting leave at the edges of texts. */
const marks = '\u200B\uFEFF'

/** Takes the marks off the edges of every string within a parsed JSON value, at any depth. */
export function stripMarks<Value>(value: Value): Value {
  const whole: Record<string, unknown> = { value }
  const left: Record<string, unknown>[] = [whole]
  for (let next = left.pop(); next; next = left.pop()) {
    for (const [key, member] of Object.entries(next)) {
      if (typeof member === 'string') next[key] = withoutMarksAtEdges(member)
      else if (typeof member === 'object' && member !== null) left.push(member as Record<string, unknown>)
    }
  }
  return whole.value as Value
}

/** A text without zero-width spaces and byte order marks at its edges, and without the blanks outside of them. */
export function withoutMarksAtEdges(text: string): string {
  const isEdge = (at: number) => marks.includes(text.charAt(at)) || text.charAt(at).trim() === ''
  let start = 0
  let end = text.length
  while (start < end && isEdge(start)) start++
  while (end > start && isEdge(end - 1)) end--
  const hasMark = (edge: string) => [...marks].some((mark) => edge.includes(mark))
  return text.slice(hasMark(text.slice(0, start)) ? start : 0, hasMark(text.slice(end)) ? end : undefined)
}

const maxPointers = 20

/** JSON Pointers of strings and keys within a value that hide characters; 20 are enough to show. */
export function hiddenIn(value: unknown): string[] {
  const found: string[] = []
  const left: [string, unknown][] = [['', value]]
  while (left.length > 0 && found.length < maxPointers) {
    const [at, next] = left.pop() as [string, unknown]
    if (typeof next === 'string' && hidesCharacters(next)) found.push(at)
    if (Array.isArray(next)) for (const [index, item] of next.entries()) left.push([`${at}/${index}`, item])
    if (!isRecord(next)) continue
    for (const [key, member] of Object.entries(next)) {
      if (hidesCharacters(key)) found.push(at)
      left.push([`${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, member])
    }
  }
  return found.sort()
}

/** True if a string or a key within a value hides characters, at any depth. */
export function hidesAny(value: unknown): boolean {
  const left = [value]
  while (left.length > 0) {
    const next = left.pop()
    if (typeof next === 'string' && hidesCharacters(next)) return true
    if (Array.isArray(next)) for (const item of next) left.push(item)
    if (!isRecord(next)) continue
    for (const [key, member] of Object.entries(next)) {
      if (hidesCharacters(key)) return true
      left.push(member)
    }
  }
  return false
}

const message = 'It holds characters that are invisible or that reorder the text. Remove them.'

/** A type whose strings, at any depth, have no hidden characters. */
export function visible<T extends z.ZodType>(type: T) {
  return type.superRefine((value, context) => {
    for (const at of hiddenIn(value)) {
      context.addIssue({ code: 'custom', message, path: at.split('/').slice(1), input: value })
    }
  })
}

const word = /[\p{Letter}\p{Mark}]+/gu
const [latin, alike] = [/\p{Script=Latin}/u, /[\p{Script=Cyrillic}\p{Script=Greek}]/u]

/** True if one word is written in scripts whose letters are confusable (UTS #39 section 5). */
export function mixesScripts(text: string): boolean {
  return (text.match(word) ?? []).some((letters) => latin.test(letters) && alike.test(letters))
}
