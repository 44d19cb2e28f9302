/** HTML whose texts are escaped. */
export interface Html {
  readonly html: string
}

type Part = string | number | Html | readonly (string | Html)[] | false | null | undefined

/** Builds HTML. Each text that is put in is escaped, so that it can stand in an element or in a quoted attribute. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let text = strings[0] ?? ''
  for (let index = 0; index < parts.length; index++) text += textOf(parts[index]) + strings[index + 1]
  return { html: text }
}

function textOf(part: Part): string {
  if (typeof part === 'string') return escaped(part)
  if (typeof part === 'number') return String(part)
  if (!part) return ''
  if ('html' in part) return part.html
  let text = ''
  for (const each of part) text += textOf(each)
  return text
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
