import { type HiddenBy, hiddenBy, writeAttributes } from './attributes.ts'
import { dropped, endedBy, openBefore, passed, renamed, voidElements } from './elements.ts'
import type { OpenTag, TagAttributes } from './tokenizer.ts'

/** Limits of a page before a DOM is built of it: parsers and extractors are quadratic in depth. */
const caps = {
  depth: 100,
  list_depth: 64,
  elements: 20_000,
  characters: 1_500_000,
  /** Character references; each costs a DOM a text node. */
  references: 40_000,
  /** Open elements that are tracked, written or not. */
  tracked: 256,
  /** Consecutive `<br>`. */
  line_breaks: 2,
  /** Sum over all lines of the lists and quotations around them: Markdown repeats these on every line. */
  indents: 200_000,
}

const indenting = new Set(['blockquote', 'li', 'dd'])

interface OpenElement {
  readonly name: string
  /** The tag as written; null if only the content is written. */
  readonly tag: string | null
  /** The content of the element is not written. */
  readonly is_silent: boolean
  /** Key of the cause that hides the element; null if it is visible. */
  readonly hiding: string | null
}

/**
 * Scripts fade in many parts of a page by these two attributes, so they share a key; other hidden elements count one
 * by one.
 */
const sharedHiding: ReadonlySet<HiddenBy> = new Set(['opacity', 'visibility'])

/** Writes the visible part of a page as well-formed HTML within the caps. */
export class Sanitizer {
  readonly #revealed: ReadonlySet<string>
  readonly #open: OpenElement[] = []
  readonly #written: string[] = []
  /** Sums of the whole page so far. */
  readonly #total = { elements: 0, characters: 0, references: 0, indents: 0 }
  /** Counts of open elements by kind at the current position. */
  readonly #around = { depth: 0, lists: 0, indents: 0, code: 0, silent: 0, hidden: 0 }
  readonly #hiddenCharacters = new Map<string, number>()
  /** Key of the outermost hidden element at the current position. */
  #outermostHiding = ''
  #hiddenElements = 0
  /** `<br>` since the last text. */
  #lineBreaks = 0
  #cut: 'elements' | 'characters' | null = null

  /**
   * `revealed` holds keys of `hiddenCharacters` from an earlier pass; elements with these keys are treated as visible.
   */
  constructor(revealed: ReadonlySet<string>) {
    this.#revealed = revealed
  }

  /** The cap that the page exceeded; no further output is needed then. */
  get cut(): 'elements' | 'characters' | null {
    return this.#cut
  }

  /** Number of open elements whose content is not written. */
  get silentDepth(): number {
    return this.#around.silent
  }

  get visibleCharacters(): number {
    return this.#total.characters
  }

  /** Characters of hidden text by the key of the cause that hides it. */
  get hiddenCharacters(): ReadonlyMap<string, number> {
    return this.#hiddenCharacters
  }

  openTag(token: OpenTag): void {
    const { name } = token
    if (name === 'html' || name === 'head') return
    if (voidElements.has(name)) this.#openVoid(token)
    else this.#openElement(token)
  }

  text(value: string): void {
    if (this.#around.silent > 0) {
      this.#countHidden(value)
      return
    }
    const flat = this.#around.code > 0 ? value : value.replace(/[ \t\n\f\r]+/g, ' ')
    const end = this.#fittingLength(flat)
    if (end < flat.length) this.#cut = 'characters'
    if (flat.trim() !== '') this.#lineBreaks = 0
    this.#total.characters += end
    this.#written.push(flat.slice(0, end).replaceAll('<', '&lt;'))
  }

  closeTag(name: string): void {
    const index = endedBy(name, this.#open)
    if (index !== -1) this.#closeTo(index)
  }

  /** Closes the open elements and returns the whole HTML. */
  finish(): string {
    this.#closeTo(0)
    return this.#written.join('')
  }

  #openVoid(token: OpenTag): void {
    const { name, attributes } = token
    if (this.#around.silent > 0 || !passed.has(name) || hiddenBy(name, attributes) !== null) return
    if (name === 'br' && ++this.#lineBreaks > caps.line_breaks) return
    if (name === 'input') this.#writeCheckbox(attributes)
    else this.#write(name, token)
  }

  #openElement(token: OpenTag): void {
    const { name, attributes } = token
    const around = this.#around
    this.#closeTo(openBefore(name, this.#open))
    const hiding = this.#hidingOf(name, attributes)
    const is_silent = dropped.has(name) || hiding !== null
    if (this.#open.length >= caps.tracked || (token.closed && (around.silent > 0 || is_silent))) return
    const target = passed.has(name) ? name : (renamed.get(name) ?? null)
    const isVisible = around.silent === 0 && !is_silent
    const tag = isVisible && target !== null && this.#fits(target) ? target : null
    if (tag !== null) {
      this.#write(tag, token)
      this.#lineBreaks = 0
    }
    const element = { name, tag, is_silent, hiding: dropped.has(name) ? null : hiding }
    this.#open.push(element)
    this.#count(element, 1)
  }

  #closeTo(length: number): void {
    while (this.#open.length > length) {
      const element = this.#open.pop()
      if (!element) return
      if (element.tag !== null) this.#written.push(`</${element.tag}>`)
      this.#count(element, -1)
    }
  }

  #count(element: OpenElement, step: 1 | -1): void {
    const around = this.#around
    if (element.is_silent) around.silent += step
    if (element.hiding !== null && element.hiding !== 'never') around.hidden += step
    if (element.is_silent && around.silent === 1 && step === 1) this.#outermostHiding = element.hiding ?? ''
    if (element.tag === null) return
    around.depth += step
    if (isList(element.tag)) around.lists += step
    if (indenting.has(element.tag)) around.indents += step
    if (element.tag === 'pre') around.code += step
  }

  #write(tag: string, { attributes }: OpenTag): void {
    const total = this.#total
    this.#written.push(`<${tag}${writeAttributes(tag, attributes)}>`)
    total.indents += this.#around.indents
    if (++total.elements >= caps.elements || total.indents >= caps.indents) this.#cut = 'elements'
  }

  /** The checkbox of a task list, as an inline element. */
  #writeCheckbox(attributes: TagAttributes): void {
    if (attributes.get('type')?.toLowerCase() !== 'checkbox') return
    this.#total.elements++
    this.#written.push(`<span data-task="${attributes.has('checked') ? 'done' : 'open'}"></span>`)
  }

  /**
   * The key of the cause that hides an element. Hidden elements are numbered, so that a second pass finds the same
   * keys.
   */
  #hidingOf(name: string, attributes: TagAttributes): string | null {
    const kind = hiddenBy(name, attributes)
    if (kind === null || kind === 'never') return kind
    const key = sharedHiding.has(kind) ? kind : `${kind} ${++this.#hiddenElements}`
    return this.#revealed.has(key) ? null : key
  }

  #fits(tag: string): boolean {
    return this.#around.depth < caps.depth && (this.#around.lists < caps.list_depth || !isList(tag))
  }

  /** Text that is hidden only by hidden elements counts for the outermost of them. */
  #countHidden(value: string): void {
    if (this.#around.silent !== this.#around.hidden) return
    const key = this.#outermostHiding
    this.#hiddenCharacters.set(key, (this.#hiddenCharacters.get(key) ?? 0) + value.trim().length)
  }

  /** Number of characters of a text that fit under the caps. */
  #fittingLength(value: string): number {
    const total = this.#total
    const end = Math.min(value.length, caps.characters - total.characters)
    for (const { 0: character, index } of value.matchAll(/[&<\n]/g)) {
      if (index >= end) return end
      if (character === '\n') total.indents += this.#around.indents
      else total.references++
      if (total.references > caps.references || total.indents > caps.indents) return index
    }
    return end
  }
}

function isList(tag: string): boolean {
  return tag === 'ul' || tag === 'ol' || tag === 'table'
}
