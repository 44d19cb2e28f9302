import type { Capability } from '../../../../schemas/entry-parts.ts'
import { isRecord } from '../../../../schemas/json.ts'
import { type Html, html } from '../html.ts'
import { words } from './words.ts'

/** Fields of an input that are drawn. */
const maxFields = 60
/** Choices of a field that are drawn. */
const maxChoices = 200
/** Longer texts get a field of several lines. */
const maxLine = 200

interface Field {
  readonly name: string
  readonly schema: Readonly<Record<string, unknown>>
  readonly isRequired: boolean
  readonly id: string
}

/** A form that calls a capability, drawn from its input schema. Texts of the schema are the publisher's. */
export function callForm(agent: string, capability: Capability, place: number): Html {
  return html`<form class="call" data-agent="${agent}" data-capability="${capability.name}" novalidate hidden>
<div class="fields">${fieldsOf(capability, place).map(editable)}</div>
<p><button class="button main">${words.call}</button></p>
<div class="answer" role="status"></div>
</form>
<noscript>${inputOf(capability)}</noscript>`
}

/** What a capability takes, to read. */
export function inputOf(capability: Capability): Html {
  const fields = fieldsOf(capability, 0)
  if (fields.length === 0) return html`<p class="hint">${words.no_input}</p>`
  return html`<div class="fields">${fields.map((field) => html`<div>${headOf(field, html`<span class="mono">${field.name}</span>`)}${hintOf(field)}</div>`)}</div>`
}

function fieldsOf({ input_schema = {} }: Capability, place: number): Field[] {
  const { properties, required } = input_schema
  const names = Array.isArray(required) ? required : []
  const all = isRecord(properties) ? Object.entries(properties).slice(0, maxFields) : []
  return all.map(([name, schema], index) => ({
    name,
    schema: isRecord(schema) ? schema : {},
    isRequired: names.includes(name),
    id: `field-${place}-${index}`,
  }))
}

function editable(field: Field): Html {
  const { id, name } = field
  const label = html`<label class="mono" for="${id}">${name}</label>`
  return html`<div>${headOf(field, label)}${control(field)}${hintOf(field)}<p class="wrong" id="${id}-wrong"></p></div>`
}

function headOf({ schema, isRequired }: Field, name: Html): Html {
  const { type, enum: choices } = schema
  const kind = Array.isArray(choices) ? words.one_of(choices.length) : String(type ?? '').slice(0, 100)
  return html`<span class="kind">${kind}</span>${name}${isRequired && html` <span class="required">${words.required}</span>`}`
}

function hintOf({ schema, id }: Field): Html {
  const { description, enum: choices } = schema
  const values = Array.isArray(choices) ? `${choices.slice(0, 20).join(', ')}. ` : ''
  const text = `${values}${typeof description === 'string' ? description : ''}`
  return text === '' ? html`` : html`<p id="${id}-hint">${text}</p>`
}

function control({ name, schema, isRequired, id }: Field): Html {
  const { type, enum: choices, maxLength, minimum, maximum, format, items } = schema
  const placeholder = placeholderOf(schema)
  const common = html`id="${id}" name="${name}" aria-describedby="${id}-hint ${id}-wrong"${isRequired && html` required`}`
  if (Array.isArray(choices)) {
    return html`<select ${common} data-kind="choice"><option></option>${choices.slice(0, maxChoices).map((choice) => html`<option value="${JSON.stringify(choice)}">${String(choice)}</option>`)}</select>`
  }
  if (type === 'boolean') return html`<input type="checkbox" ${common} data-kind="boolean">`
  if (type === 'integer' || type === 'number') {
    const bounds = html`${typeof minimum === 'number' && html` min="${minimum}"`}${typeof maximum === 'number' && html` max="${maximum}"`}`
    const step = type === 'number' && html` step="any"`
    return html`<input type="number" ${common}${bounds}${step} placeholder="${placeholder}" data-kind="number">`
  }
  if (type === 'string') {
    const isLong = format === 'text' || (Number(maxLength) > maxLine && format === undefined)
    const kind = format === 'uri' || format === 'url' ? 'url' : format === 'date' ? 'date' : 'text'
    if (isLong)
      return html`<textarea ${common} rows="3" placeholder="${placeholder}" data-kind="text"></textarea>`
    return html`<input type="${kind}" ${common} placeholder="${placeholder}" data-kind="text">`
  }
  const isLines = type === 'array' && isRecord(items) && items.type === 'string'
  return html`<textarea ${common} rows="3" placeholder="${isLines ? words.one_a_line : 'JSON'}" data-kind="${isLines ? 'lines' : 'json'}"></textarea>`
}

/** The default, which counts when nothing is typed, or an example. */
function placeholderOf({ default: usual, examples }: Field['schema']): string {
  const shown = usual ?? (Array.isArray(examples) ? examples[0] : undefined)
  return shown === undefined || typeof shown === 'object' ? '' : String(shown).slice(0, maxLine)
}
