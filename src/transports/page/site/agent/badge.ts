import { hash } from 'node:crypto'
import type { Entry } from '../../../../../schemas/entry.ts'
import { withoutHidden } from '../../../../../schemas/text.ts'
import { type Html, html } from '../../html.ts'
import { signOfLiveness } from '../parts.ts'
import { callableWords, livenessWords, verificationWords } from '../words.ts'

const maxCharacters = 40
const padding = 7
/** Widths of characters of Verdana at 11 pixels; the text is fitted to their sum, whatever font shows it. */
const widths: readonly (readonly [RegExp, number])[] = [
  [/[ijlI.,:;|'!]/, 3.6],
  [/[ frt()[\]{}/\\"*-]/, 4.6],
  [/[mwMW@%]/, 10],
  [/[A-Z]/, 7.6],
  [/[\u1100-\u115f\u2e80-\uffdc]|\p{Extended_Pictographic}/u, 11],
]
const usual = 6.7

const colors = { ok: '#1c7247', warn: '#8a5a00', bad: '#b3261e', none: '#5f6973', proved: '#0b6670' } as const

type Part = readonly [text: string, color: string]

/** A picture of 20 pixels that says whether an agent answers, and whether its domain is verified. */
export function badgeOf({ name, verification_level, ...entry }: Entry): string {
  const isVerified = verification_level === 'domain_verified'
  return drawn([
    [withoutHidden(name), '#1b2127'],
    stateOf(entry),
    ...(isVerified ? [[verificationWords.domain_verified.toLowerCase(), colors.proved] as const] : []),
  ])
}

/** The picture for a name that is not listed. */
export function unlistedBadge(name: string): string {
  return drawn([
    [withoutHidden(name), '#1b2127'],
    ['not listed', colors.none],
  ])
}

function stateOf({
  callable,
  liveness,
  deprecated,
}: Pick<Entry, 'callable' | 'liveness' | 'deprecated'>): Part {
  if (deprecated !== null) return ['deprecated', colors.warn]
  const { status, p50_ms } = liveness
  if (status === 'unknown' || callable === 'package') {
    const isOpen = callable === 'hosted' || callable === 'open'
    return [callableWords[callable].toLowerCase(), isOpen ? colors.ok : colors.none]
  }
  const time = p50_ms === null ? '' : ` · ${p50_ms} ms`
  return [`${livenessWords[status].toLowerCase()}${time}`, colors[signOfLiveness[status]]]
}

function drawn(parts: readonly Part[]): string {
  const texts = parts.map(([text]) =>
    text.length > maxCharacters ? `${text.slice(0, maxCharacters - 1)}…` : text,
  )
  const lengths = texts.map(widthOf)
  const title = texts.join(' · ')
  let left = 0
  const boxes = parts.map(([, color], index) => {
    const width = (lengths[index] ?? 0) + 2 * padding
    const box = html`<rect x="${left}" width="${width}" height="20" fill="${color}"/><text x="${left + padding}" y="14" textLength="${lengths[index] ?? 0}" lengthAdjust="spacingAndGlyphs">${texts[index]}</text>`
    left += width
    return box
  })
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="${left}" height="20" role="img" aria-label="${title}"><title>${title}</title><clipPath id="r"><rect width="${left}" height="20" rx="4"/></clipPath><g clip-path="url(#r)" fill="#fff" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11">${boxes}</g></svg>`
    .html
}

function widthOf(text: string): number {
  const sum = [...text].reduce((width, character) => {
    const [, own = usual] = widths.find(([pattern]) => pattern.test(character)) ?? []
    return width + own
  }, 0)
  return Math.ceil(sum)
}

/** A square with the first letter of a name, in a colour that follows from the package name. */
export function tileOf(packageName: string, name = packageName.split(/[./]/).at(-1) ?? ''): Html {
  const hue = (Number.parseInt(hash('sha1', packageName).slice(0, 4), 16) * 360) >> 16
  const letter = /[\p{L}\p{N}]/u.exec(name)?.[0].toUpperCase() ?? '?'
  return html`<svg class="tile" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48" width="48" height="48" aria-hidden="true"><rect width="48" height="48" rx="10" fill="hsl(${hue} 45% 32%)"/><text x="24" y="33" text-anchor="middle" font-family="sans-serif" font-size="26" font-weight="600" fill="#fff">${letter}</text></svg>`
}
