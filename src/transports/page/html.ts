/** HTML whose texts are escaped. */
export interface Html {
  readonly html: string
}

type Part = string | number | Html | readonly Html[] | false | null | undefined

/** Builds HTML. Each text that is put in is escaped, so that it can stand in an element or in a quoted attribute. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { html: strings.reduce((before, after, index) => before + textOf(parts[index - 1]) + after) }
}

function textOf(part: Part): string {
  if (part === undefined || part === null || part === false) return ''
  if (typeof part === 'string' || typeof part === 'number') return escaped(String(part))
  if ('html' in part) return part.html
  return part.map((each) => each.html).join('')
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Controls that reorder what surrounds a text (UAX #9); in HTML elements do that for their own text. */
const special = /[&<>"'\u202a-\u202e\u2066-\u2069]/
const everySpecial = new RegExp(special, 'g')

function escaped(text: string): string {
  // Most texts have nothing to escape, and a test costs less than a replacement.
  if (!special.test(text)) return text
  return text.replace(everySpecial, (character) => entities[character] ?? '')
}
