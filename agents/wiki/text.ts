const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
}

/** The words of a search snippet, which is wikitext in HTML, without tags, markup and the entities of both. */
export function plain(html: string): string {
  const wikitext = decoded(html.replace(/<[^<>]*>/g, ''))
  return decoded(wikitext.replace(/\[\[[^[\]|]*\|/g, '').replace(/'{2,}|\[\[|\]\]/g, ''))
    .replace(/\s+/g, ' ')
    .trim()
}

function decoded(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,6}));/gi, decode)
}

function decode(entity: string, decimal?: string, hexadecimal?: string, name?: string): string {
  if (name !== undefined) return named[name.toLowerCase()] ?? entity
  const point = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal)
  return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point).toWellFormed() : entity
}

/** The first sentences of a text, at most `limit.characters` long (UTF-16 units). */
export function clip(
  text: string,
  limit: { sentences?: number | undefined; characters: number },
): { text: string; truncated: boolean } {
  const whole = text.trim()
  const end = endOf(whole, limit.sentences ?? Number.POSITIVE_INFINITY, limit.characters)
  return { text: whole.slice(0, end).toWellFormed().trim(), truncated: end < whole.length }
}

function endOf(text: string, sentences: number, characters: number): number {
  let end = 0
  let count = 0
  for (const { segment } of new Intl.Segmenter('en', { granularity: 'sentence' }).segment(text)) {
    if (count === sentences) return end
    if (end + segment.length > characters) return end === 0 ? characters : end
    end += segment.length
    count++
  }
  return end
}
