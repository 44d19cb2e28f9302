import { createHead, type Head } from './head.ts'
import { Sanitizer } from './sanitizer.ts'
import { isRaw, type OpenTag, tokenize } from './tokenizer.ts'

export interface Filtered {
  readonly head: Head
  /** The visible part of the page, well-formed and bounded. */
  readonly body: string
  /** The cap that the page exceeded, if any. */
  readonly cut: Sanitizer['cut']
  /** `body` contains text that the page hides until its script runs. */
  readonly is_revealed: boolean
}

const maxPasses = 3
/** Hidden text of fewer characters is never taken for the page. */
const minRevealedCharacters = 200

/**
 * Rewrites any HTML as small, well-formed HTML without scripts, styles, comments and hidden text, in linear time. If
 * there is more hidden than visible text, the hidden text counts as the page: such pages fade in, or a script writes
 * them beside a plain version in `<noscript>`.
 */
export function prefilter(html: string): Filtered {
  const revealed = new Set<string>()
  for (let pass = 1; ; pass++) {
    const { head, sanitizer } = read(html, revealed)
    const { hiddenCharacters, visibleCharacters } = sanitizer
    const minimum = Math.max(minRevealedCharacters, visibleCharacters)
    const hiding = [...hiddenCharacters].filter(([, length]) => length > minimum)
    if (hiding.length === 0 || pass === maxPasses) {
      return { head, body: sanitizer.finish(), cut: sanitizer.cut, is_revealed: revealed.size > 0 }
    }
    for (const [key] of hiding) revealed.add(key)
  }
}

function read(html: string, revealed: ReadonlySet<string>): { head: Head; sanitizer: Sanitizer } {
  const head = createHead()
  const sanitizer = new Sanitizer(revealed)
  let raw: OpenTag | undefined
  let isNoscript = false
  for (const token of tokenize(html)) {
    if (sanitizer.cut !== null) break
    if (token.type === 'close') {
      sanitizer.closeTag(token.name)
      if (token.name === 'noscript') isNoscript = false
    }
    if (token.type === 'open') {
      if (token.name === 'noscript') isNoscript = true
      head.start(token)
      sanitizer.openTag(token)
      raw = isRaw(token.name) && !token.closed ? token : undefined
    }
    if (token.type !== 'text') continue
    // The title of a drawing or of a hidden element is not the title of the page.
    if (raw && sanitizer.silentDepth <= 1) head.raw(raw, token.value)
    if (!raw) {
      if (isNoscript) head.noscriptText(token.value)
      sanitizer.text(token.value)
    }
    raw = undefined
  }
  return { head: head.finish(), sanitizer }
}
