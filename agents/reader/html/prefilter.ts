import { createHead, type Head } from './head.ts'
import { createOutline, type Outline } from './outline.ts'
import { isRaw, type OpenTag, tokenize } from './tokenizer.ts'

export interface Filtered {
  readonly head: Head
  /** Well-formed and bounded: what a reader of the page would see. */
  readonly body: string
  /** The cap that cut the page short, if one did. */
  readonly cut: Outline['cut']
}

/** Rewrites any HTML as small, well-formed HTML, in linear time: scripts, styles, comments and hidden text are out. */
export function prefilter(html: string): Filtered {
  const head = createHead()
  const outline = createOutline()
  let raw: OpenTag | undefined
  for (const token of tokenize(html)) {
    if (outline.cut !== null) break
    if (token.type === 'close') outline.end(token.name)
    if (token.type === 'open') {
      head.start(token)
      outline.start(token)
      raw = isRaw(token.name) && !token.closed ? token : undefined
    }
    if (token.type !== 'text') continue
    // A title inside a drawing, or anything hidden, is not the page's own.
    if (raw && outline.silent <= 1) head.raw(raw, token.value)
    if (!raw) outline.text(token.value)
    raw = undefined
  }
  return { head: head.finish(), body: outline.finish(), cut: outline.cut }
}
