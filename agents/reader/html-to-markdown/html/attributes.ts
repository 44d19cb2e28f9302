import type { TagAttributes } from './tokenizer.ts'

const maxLength = 2048
const everywhere = ['class', 'id', 'itemprop', 'role', 'rel', 'dir', 'lang']
const own = new Map(
  Object.entries({
    a: ['href', 'title'],
    img: [
      'src',
      'srcset',
      'data-src',
      'data-srcset',
      'data-original',
      'data-lazy-src',
      'alt',
      'title',
      'width',
      'height',
    ],
    td: ['colspan', 'rowspan'],
    th: ['colspan', 'rowspan'],
    ol: ['start'],
    time: ['datetime'],
    pre: ['data-lang', 'data-language'],
    code: ['data-lang', 'data-language'],
    math: ['display'],
    annotation: ['encoding'],
  }),
)

/** Writes the attributes that later steps use: none longer than 2 KiB, no data: URIs, bounded spans. */
export function writeAttributes(name: string, attributes: TagAttributes): string {
  let written = ''
  for (const key of [...everywhere, ...(own.get(name) ?? [])]) {
    const value = attributes.get(key)
    if (value === undefined || value.length > maxLength || /^\s*data:/i.test(value)) continue
    if (key === 'colspan' || key === 'rowspan') written += writeSpan(key, value)
    else written += ` ${key}="${value.replaceAll('"', '&quot;')}"`
  }
  return written + writeAlignment(name, attributes)
}

/** Columns or rows that a table cell may span; more is decoration or an attack on the code that fills the grid. */
const maxSpan = 20

function writeSpan(key: string, value: string): string {
  const span = Number.parseInt(value, 10)
  return span > 1 ? ` ${key}="${Math.min(span, maxSpan)}"` : ''
}

/** Alignment as `data-align`, from `style` or `align`. */
function writeAlignment(name: string, attributes: TagAttributes): string {
  if (name !== 'td' && name !== 'th') return ''
  const style = attributes.get('style')?.slice(0, maxLength) ?? ''
  const alignment = /text-align\s*:\s*(\w+)/i.exec(style)?.[1] ?? attributes.get('align') ?? ''
  return /^(?:left|right|center)$/i.test(alignment) ? ` data-align="${alignment.toLowerCase()}"` : ''
}

const never =
  /font-size\s*:\s*0(?:\.0+)?(?:px|pt|em|rem|%)?\s*(?:;|!|$)|text-indent\s*:\s*-\d{3,}|(?:left|top)\s*:\s*-\d{4,}/i
const hidingStyles: readonly (readonly [HiddenBy, RegExp])[] = [
  ['display', /display\s*:\s*none/i],
  ['visibility', /(?:^|[;\s])visibility\s*:\s*(?:hidden|collapse)/i],
  ['opacity', /(?:^|[;\s])opacity\s*:\s*0*\.?0*\s*(?:;|!|$)/i],
]
const zeroSize = /(?:^|[;\s])(?:max-)?(?:width|height)\s*:\s*[01](?:px)?\s*(?:;|!|$)/i
const hiddenClass =
  /(?:^|\s)(?:sr-only|visually-hidden|visuallyhidden|screen-reader-text|d-none|is-hidden)(?:\s|$)/i
/** React streams content as hidden elements with such an id until a script moves them. */
const streamed = /^S:[\da-f]{1,8}$/i

/** The attribute that hides an element; `never` means that no script will show the element. */
export type HiddenBy = 'noscript' | 'hidden' | 'aria-hidden' | 'display' | 'visibility' | 'opacity' | 'never'

/** The attribute that hides an element from readers of the page; null if it is visible. */
export function hiddenBy(name: string, attributes: TagAttributes): HiddenBy | null {
  if (name === 'noscript') return 'noscript'
  if (attributes.has('hidden') && attributes.get('hidden') !== 'until-found') {
    return streamed.test(attributes.get('id') ?? '') ? null : 'hidden'
  }
  if (attributes.get('aria-hidden')?.trim().toLowerCase() === 'true') return 'aria-hidden'
  if (name === 'dialog' && !attributes.has('open')) return 'never'
  if (hiddenClass.test(attributes.get('class')?.slice(0, maxLength) ?? '')) return 'never'
  const style = attributes.get('style')?.slice(0, 4 * maxLength) ?? ''
  if (style === '') return null
  if (never.test(style) || (zeroSize.test(style) && /overflow\s*:\s*hidden/i.test(style))) return 'never'
  return hidingStyles.find(([, pattern]) => pattern.test(style))?.[0] ?? null
}
