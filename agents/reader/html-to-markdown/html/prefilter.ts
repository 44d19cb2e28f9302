import { createHead, type Head } from './head.ts'
import { createOutline, type Outline } from './sanitizer.ts'
import { isRaw, type OpenTag, tokenize } from './tokenizer.ts'

export interface Filtered {
  readonly head: Head
  /** Well-formed and bounded: what a reader of the page would see. */
  readonly body: string
  /** The cap that cut the page short, if one did. */
  readonly cut: Outline['cut']
  /** It holds what the page hides until its script runs. */
  readonly is_revealed: boolean
}

const mostReadings = 3
/** Characters behind a veil that may be the page itself. */
const fewest = 200

/**
 * Rewrites any HTML as small, well-formed HTML, in linear time: scripts, styles, comments and hidden text are out.
 * What is hidden is the page itself where it says more than all that is seen: pages that fade in, or are written by
 * a script beside a plain version in `<noscript>`.
 */
export function prefilter(html: string): Filtered {
  const lifted = new Set<string>()
  for (let reading = 1; ; reading++) {
    const { head, outline } = read(html, lifted)
    const hides = [...outline.unseen].filter(([, length]) => length > Math.max(fewest, outline.seen))
    if (hides.length === 0 || reading === mostReadings) {
      const { cut } = outline
      return { head, body: outline.finish(), cut, is_revealed: lifted.size > 0 }
    }
    for (const [veil] of hides) lifted.add(veil)
  }
}

function read(html: string, lifted: ReadonlySet<string>): { head: Head; outline: Outline } {
  const head = createHead()
  const outline = createOutline(lifted)
  let raw: OpenTag | undefined
  let isInstead = false
  for (const token of tokenize(html)) {
    if (outline.cut !== null) break
    if (token.type === 'close') {
      outline.end(token.name)
      if (token.name === 'noscript') isInstead = false
    }
    if (token.type === 'open') {
      if (token.name === 'noscript') isInstead = true
      head.start(token)
      outline.start(token)
      raw = isRaw(token.name) && !token.closed ? token : undefined
    }
    if (token.type !== 'text') continue
    // A title inside a drawing, or anything hidden, is not the page's own.
    if (raw && outline.silent <= 1) head.raw(raw, token.value)
    if (!raw) {
      if (isInstead) head.insteadOfScript(token.value)
      outline.text(token.value)
    }
    raw = undefined
  }
  return { head: head.finish(), outline }
}
