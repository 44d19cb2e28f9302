import { isRecord, type JsonSchema } from '../../../../../schemas/json.ts'
import { type Html, html } from '../../html.ts'
import { withCode } from '../parts.ts'
import { words } from '../words.ts'
import { schemaName } from './api-document.ts'

/** Levels of objects that are drawn inside each other. */
const maxDepth = 4
/** Values of an enumeration that are listed. */
const maxValues = 40

/** The fields of a schema, each with its type, its bounds and its meaning. Schemas with a name are links to their page. */
export function fieldsOf(schema: JsonSchema, depth = 0): Html {
  const { properties, required } = schema
  const needed = new Set(Array.isArray(required) ? required : [])
  if (!isRecord(properties) || Object.keys(properties).length === 0) {
    const text = textOf(schema)
    return html`<p>${typeOf(schema)}${boundsOf(schema)}${text !== '' && html` ${withCode(text)}`}</p>`
  }
  const fields = Object.entries(properties)
  // What most fields are is not said of each.
  const areMostNeeded = needed.size * 2 > fields.length
  const rows = fields.map(([name, field]) => {
    const mark = areMostNeeded !== needed.has(name) && noteOf(!areMostNeeded)
    return fieldOf(name, isRecord(field) ? (field as JsonSchema) : {}, mark, depth)
  })
  return html`<dl class="schema">${rows}</dl>`
}

function noteOf(isNeeded: boolean): Html {
  return isNeeded
    ? html` <span class="required">${words.required}</span>`
    : html` <span class="kind-of">· ${words.api.optional}</span>`
}

function fieldOf(name: string, schema: JsonSchema, mark: Html | false, depth: number): Html {
  const text = textOf(schema)
  return html`<dt><code>${name}</code> <span class="kind-of">${typeOf(schema)}${boundsOf(schema)}</span>${mark}</dt>
<dd>${withCode(text)}${innerOf(schema, depth)}</dd>`
}

/** The fields of an object, or of the objects of an array, that has no page of its own. */
function innerOf(schema: JsonSchema, depth: number): Html | false {
  const inner = objectIn(schema)
  if (inner === undefined || depth >= maxDepth) return false
  return html`<details><summary>${words.api.fields}</summary>${fieldsOf(inner, depth + 1)}</details>`
}

function objectIn(schema: JsonSchema): JsonSchema | undefined {
  if (isRecord(schema.properties)) return schema
  const { items } = schema
  if (isRecord(items)) return objectIn(items as JsonSchema)
  return choicesOf(schema)
    .map(objectIn)
    .find((found) => found !== undefined)
}

/** The type in words. */
export function typeOf(schema: JsonSchema): Html {
  const name = schemaName(schema)
  if (name !== undefined) return html`<a href="/docs/api/schemas/${name}">${name}</a>`
  if (Array.isArray(schema.enum)) return valuesOf(schema.enum)
  if ('const' in schema) return html`<code>${JSON.stringify(schema.const)}</code>`
  const choices = choicesOf(schema)
  if (choices.length > 0) return separated(choices.map(typeOf), words.api.or)
  const { type, items, format } = schema
  if (isRecord(items)) return html`${words.api.array_of} ${typeOf(items as JsonSchema)}`
  const types = Array.isArray(type)
    ? type.join(words.api.or)
    : typeof type === 'string'
      ? type
      : words.api.any
  return html`${types}${typeof format === 'string' && html` (${format})`}`
}

function choicesOf({ anyOf, oneOf, allOf }: JsonSchema): JsonSchema[] {
  const choices = [anyOf, oneOf, allOf].find(Array.isArray) ?? []
  return choices.filter(isRecord) as unknown as JsonSchema[]
}

function valuesOf(values: readonly unknown[]): Html {
  const shown = values.slice(0, maxValues).map((value) => html`<code>${String(value)}</code>`)
  return html`${separated(shown, ' | ')}${values.length > maxValues && ' …'}`
}

function separated(parts: readonly Html[], separator: string): Html {
  return html`${parts.map((part, at) => (at === 0 ? part : html`${separator}${part}`))}`
}

function boundsOf({ minimum, maximum, minLength, maxLength, maxItems, pattern }: JsonSchema): Html {
  const range = (low: unknown, high: unknown, unit: string) => {
    if (typeof low === 'number' && typeof high === 'number') return html`, ${low}–${high}${unit}`
    if (typeof high === 'number') return html`, ≤ ${high}${unit}`
    return typeof low === 'number' ? html`, ≥ ${low}${unit}` : html``
  }
  return html`${range(minimum, maximum, '')}${range(minLength, maxLength, ` ${words.api.characters}`)}${range(undefined, maxItems, ` ${words.api.items}`)}${typeof pattern === 'string' && pattern !== '\\S' && html`, <code>${pattern}</code>`}`
}

function textOf({ description }: JsonSchema): string {
  return typeof description === 'string' ? description : ''
}
