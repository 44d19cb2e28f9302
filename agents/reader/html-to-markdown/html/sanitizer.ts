import { type HiddenBy, veilOf, writeAttributes } from './attributes.ts'
import { dropped, endedBy, kept, openBefore, renamed, voidElements } from './elements.ts'
import type { Attributes, OpenTag } from './tokenizer.ts'

/** What no page may exceed before a DOM is built of it: parsers and extractors are quadratic in depth. */
const caps = {
  depth: 100,
  list_depth: 64,
  elements: 20_000,
  characters: 1_500_000,
  /** Of characters, each of which costs a DOM a text node. */
  references: 40_000,
  /** Open elements kept track of, written or not. */
  tracked: 256,
  /** In a row. */
  line_breaks: 2,
  /** Of lines times the lists and quotations around them: Markdown repeats those on every line. */
  indents: 200_000,
}

const indenting = new Set(['blockquote', 'li', 'dd'])

interface Open {
  readonly name: string
  /** As written, null where only the content is. */
  readonly tag: string | null
  /** Nothing inside is written. */
  readonly is_silent: boolean
  /** What hides it. */
  readonly veil: string | null
}

/** Writes what a reader of the page would see as well-formed HTML within the caps. */
export interface Outline {
  start(tag: OpenTag): void
  text(value: string): void
  end(name: string): void
  /** Ends what is open and gives all that was written. */
  finish(): string
  /** The cap that the page went beyond, if it did: nothing more need be written. */
  readonly cut: 'elements' | 'characters' | null
  /** How many elements around here are silent. */
  readonly silent: number
  /** Characters seen, and behind each veil. */
  readonly seen: number
  readonly unseen: ReadonlyMap<string, number>
}

/** Scripts fade in many parts of a page alike; what is hidden otherwise is a thing of its own. */
const alike: ReadonlySet<HiddenBy> = new Set(['opacity', 'visibility'])

/** `lifted` are veils that hide nothing here. */
export function createOutline(lifted: ReadonlySet<string> = new Set()): Outline {
  const open: Open[] = []
  const written: string[] = []
  /** So far, of the whole page. */
  const total = { elements: 0, characters: 0, references: 0, indents: 0 }
  /** Around the place where the writing is. */
  const around = { depth: 0, lists: 0, indents: 0, code: 0, silent: 0, veils: 0 }
  const unseen = new Map<string, number>()
  /** The outermost one here. */
  let veil = ''
  let veils = 0
  /** Since the last text. */
  let breaks = 0
  let cut: Outline['cut'] = null

  function note(element: Open, step: 1 | -1): void {
    if (element.is_silent) around.silent += step
    if (element.veil !== null && element.veil !== 'never') around.veils += step
    if (element.is_silent && around.silent === 1 && step === 1) veil = element.veil ?? ''
    if (element.tag === null) return
    around.depth += step
    if (isList(element.tag)) around.lists += step
    if (indenting.has(element.tag)) around.indents += step
    if (element.tag === 'pre') around.code += step
  }

  function closeTo(length: number): void {
    while (open.length > length) {
      const element = open.pop()
      if (!element) return
      if (element.tag !== null) written.push(`</${element.tag}>`)
      note(element, -1)
    }
  }

  function write(tag: string, { attributes }: OpenTag): void {
    written.push(`<${tag}${writeAttributes(tag, attributes)}>`)
    total.indents += around.indents
    if (++total.elements >= caps.elements || total.indents >= caps.indents) cut = 'elements'
  }

  /** A task's box, as an element that stands in the text. */
  function writeBox(attributes: Attributes): void {
    if (attributes.get('type')?.toLowerCase() !== 'checkbox') return
    total.elements++
    written.push(`<span data-task="${attributes.has('checked') ? 'done' : 'open'}"></span>`)
  }

  function startVoid(token: OpenTag): void {
    const { name, attributes } = token
    if (around.silent > 0 || !kept.has(name) || veilOf(name, attributes) !== null) return
    if (name === 'br' && ++breaks > caps.line_breaks) return
    if (name === 'input') writeBox(attributes)
    else write(name, token)
  }

  function start(token: OpenTag): void {
    const { name } = token
    if (name === 'html' || name === 'head') return
    if (voidElements.has(name)) startVoid(token)
    else startHolder(token)
  }

  function startHolder(token: OpenTag): void {
    const { name, attributes } = token
    closeTo(openBefore(name, open))
    const own = veilFor(name, attributes)
    const is_silent = dropped.has(name) || own !== null
    if (open.length >= caps.tracked || (token.closed && (around.silent > 0 || is_silent))) return
    const known = kept.has(name) ? name : (renamed.get(name) ?? null)
    const isHeard = around.silent === 0 && !is_silent
    const tag = isHeard && known !== null && fits(known) ? known : null
    if (tag !== null) {
      write(tag, token)
      breaks = 0
    }
    const element = { name, tag, is_silent, veil: dropped.has(name) ? null : own }
    open.push(element)
    note(element, 1)
  }

  /** The name of what hides an element; each is counted, so that a name means the same when the page is read again. */
  function veilFor(name: string, attributes: Attributes): string | null {
    const kind = veilOf(name, attributes)
    if (kind === null || kind === 'never') return kind
    const key = alike.has(kind) ? kind : `${kind} ${++veils}`
    return lifted.has(key) ? null : key
  }

  function fits(tag: string): boolean {
    return around.depth < caps.depth && (around.lists < caps.list_depth || !isList(tag))
  }

  function text(value: string): void {
    if (around.silent > 0) {
      noteUnseen(value)
      return
    }
    const flat = around.code > 0 ? value : value.replace(/[ \t\n\f\r]+/g, ' ')
    const end = endOfRoom(flat)
    if (end < flat.length) cut = 'characters'
    if (flat.trim() !== '') breaks = 0
    total.characters += end
    written.push(flat.slice(0, end).replaceAll('<', '&lt;'))
  }

  /** Text under veils alone counts for the outermost of them. */
  function noteUnseen(value: string): void {
    if (around.silent !== around.veils) return
    unseen.set(veil, (unseen.get(veil) ?? 0) + value.trim().length)
  }

  /** How much of a text fits under the caps. */
  function endOfRoom(value: string): number {
    const end = Math.min(value.length, caps.characters - total.characters)
    for (const { 0: mark, index } of value.matchAll(/[&<\n]/g)) {
      if (index >= end) return end
      if (mark === '\n') total.indents += around.indents
      else total.references++
      if (total.references > caps.references || total.indents > caps.indents) return index
    }
    return end
  }

  function end(name: string): void {
    const index = endedBy(name, open)
    if (index !== -1) closeTo(index)
  }

  return {
    start,
    text,
    end,
    finish() {
      closeTo(0)
      return written.join('')
    },
    get cut() {
      return cut
    },
    get silent() {
      return around.silent
    },
    get seen() {
      return total.characters
    },
    unseen,
  }
}

function isList(tag: string): boolean {
  return tag === 'ul' || tag === 'ol' || tag === 'table'
}
