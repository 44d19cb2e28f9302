import type { Capability } from '../../../../../schemas/entry-parts.ts'
import { isRecord } from '../../../../../schemas/json.ts'
import { type Html, html } from '../../html.ts'
import { onceFields } from '../fields.ts'
import { agentWords as labels, words } from '../words.ts'

/** Fields of an input that are drawn, those of its objects included. */
const maxFields = 60
/** Choices of a field that are drawn. */
const maxChoices = 200
/** Choices of a list that are drawn as boxes. */
const maxBoxes = 40
/** Longer texts get a field of several lines. */
const maxLine = 200
/** Characters of a schema that are shown. */
const maxSchema = 4000

type Schema = Readonly<Record<string, unknown>>

interface Field {
  readonly name: string
  readonly schema: Schema
  readonly isRequired: boolean
  readonly id: string
  /** Name of the object that has the field; undefined for a field of the input itself. */
  readonly within: string | undefined
  /** The fields of an object. */
  readonly inner: readonly Field[]
}

/**
 * A form that calls a capability, drawn from its input schema. Texts of the schema are the publisher's. With the token of
 * a form it calls as the person who is signed in, else in a playground session.
 */
export function callForm(agent: string, capability: Capability, place: number, token = ''): Html {
  const own = token !== '' && html` data-token="${token}"`
  return html`<form class="call" data-agent="${agent}" data-capability="${capability.name}"${own} data-number="${words.faults.number}" data-required="${words.faults.required}" data-pattern="${words.faults.pattern}" data-json="${words.faults.json}" data-cut="${words.answer.cut('#')}" data-away="${words.faults.away}" data-calling="${words.answer.calling}" novalidate>
<div class="fields">${fieldsOf(capability, place).map(editable)}${wholeInput(capability, place)}</div>
<p><button class="button main">${words.call}</button></p>
<div class="answer"></div>
</form>
<noscript>${inputOf(capability)}${token !== '' && plainForm(agent, token, capability.name)}</noscript>`
}

/** Calls without scripts: the input is typed as JSON, and the name too of a capability that is not known here. */
export function plainForm(agent: string, token: string, capability?: string, typed = '{}'): Html {
  const name = capability
    ? html`<input type="hidden" name="capability" value="${capability}">`
    : html`<div><label for="capability">${labels.capability_name}</label><input id="capability" name="capability" required autocomplete="off"></div>`
  return html`<form method="post" action="/agent/${encodeURIComponent(agent)}/call">${onceFields({ token: () => token })}<div class="fields">${name}<div><label>${labels.whole_as_json}<textarea name="input" rows="4" spellcheck="false">${typed}</textarea></label></div></div><p><button class="button main">${words.call}</button></p></form>`
}

/** What a capability takes, to read. */
export function inputOf(capability: Capability): Html {
  const { input_schema = {} } = capability
  const fields = fieldsOf(capability, 0)
  if (fields.length === 0 && isComposed(input_schema)) return schemaOf(input_schema)
  if (fields.length === 0) return html`<p class="hint">${words.no_input}</p>`
  return html`<div class="fields">${fields.map(readable)}${leftOut(input_schema)}</div>`
}

function readable(field: Field): Html {
  const inner = field.inner.length > 0 && html`<div class="fields inner">${field.inner.map(readable)}</div>`
  return html`<div>${headOf(field, html`<span class="mono" dir="ltr">${field.name}</span>`)}${hintOf(field)}${inner}</div>`
}

/** The fields of an input, with those of its objects, which are drawn one level deep. */
function fieldsOf({ input_schema = {} }: Capability, place: number): Field[] {
  let left = maxFields
  function read(schema: Schema, id: string, within?: string): Field[] {
    const { properties, required } = schema
    const needed = Array.isArray(required) ? required : []
    const members = isRecord(properties) ? Object.entries(properties).slice(0, left) : []
    left -= members.length
    return members.map(([name, member], index) => {
      const inner = isRecord(member) ? member : {}
      const own = `${id}-${index}`
      return {
        name,
        schema: inner,
        isRequired: needed.includes(name),
        id: own,
        within,
        inner: within === undefined && isPlainObject(inner) ? read(inner, own, name) : [],
      }
    })
  }
  return read(input_schema, `field-${place}`)
}

const composing = ['$ref', '$dynamicRef', 'oneOf', 'anyOf', 'allOf', 'if', 'patternProperties']

/** True for a schema that says more than its properties do. */
function isComposed(schema: Schema): boolean {
  return composing.some((keyword) => keyword in schema) || isRecord(schema.additionalProperties)
}

function isPlainObject(schema: Schema): boolean {
  const { type, properties } = schema
  return (
    type === 'object' && isRecord(properties) && Object.keys(properties).length > 0 && !isComposed(schema)
  )
}

function editable(field: Field): Html {
  const { id, name, schema, inner } = field
  if (inner.length > 0) {
    return html`<fieldset><legend class="mono">${name}</legend>${hintOf(field)}<div class="fields">${inner.map(editable)}</div></fieldset>`
  }
  const boxes = boxesOf(schema)
  if (boxes) {
    const legend = html`<legend class="mono" dir="ltr">${name}</legend>`
    return html`<fieldset id="${id}" data-boxes="${name}">${legend}${hintOf(field)}${boxes.map((choice) => html`<label><input type="checkbox" data-name="${name}" value="${JSON.stringify(choice)}" data-kind="boxes"${insideOf(field)} aria-describedby="${id}-wrong">${textOf(choice)}</label>`)}<p class="wrong" id="${id}-wrong"></p></fieldset>`
  }
  const label = html`<label class="mono" for="${id}" dir="ltr">${name}</label>`
  const beside = isDrawn(schema) ? html`` : schemaOf(schema)
  return html`<div>${headOf(field, label)}${control(field)}${hintOf(field)}${beside}<p class="wrong" id="${id}-wrong"></p></div>`
}

/** The choices of a list that takes some of them. */
function boxesOf({ type, items }: Schema): readonly unknown[] | undefined {
  const choices = type === 'array' && isRecord(items) ? items.enum : undefined
  return Array.isArray(choices) && choices.length <= maxBoxes ? choices : undefined
}

function insideOf({ within }: Field): Html | false {
  return within !== undefined && html` data-in="${within}"`
}

/** The input as a whole, for what the fields cannot say; it counts instead of them. */
function wholeInput({ input_schema = {} }: Capability, place: number): Html {
  const id = `whole-${place}`
  const isOpen = isComposed(input_schema) && !isRecord(input_schema.properties)
  return html`<details class="whole"${isOpen && html` open`}><summary>${labels.whole_as_json}</summary>${leftOut(input_schema)}<textarea id="${id}" rows="4" aria-label="${labels.whole_as_json}" aria-describedby="${id}-wrong" placeholder="{}" data-kind="whole" spellcheck="false"></textarea><p class="wrong" id="${id}-wrong"></p>${isComposed(input_schema) && schemaOf(input_schema)}</details>`
}

function leftOut({ properties }: Schema): Html | false {
  const count = isRecord(properties) ? Object.keys(properties).length - maxFields : 0
  return count > 0 && html`<p class="hint">${labels.more_fields(count)}</p>`
}

function schemaOf(schema: Schema): Html {
  const text = JSON.stringify(schema, null, 2)
  return html`<details><summary>${labels.schema}</summary><pre tabindex="0">${text.length > maxSchema ? `${text.slice(0, maxSchema)} …` : text}</pre></details>`
}

function headOf({ schema, isRequired }: Field, name: Html): Html {
  const { type, enum: choices } = schema
  const kind = Array.isArray(choices)
    ? words.one_of(choices.length)
    : [type]
        .flat()
        .filter((each) => typeof each === 'string')
        .join(',')
        .slice(0, 100)
  return html`<span class="kind">${kind}</span>${name}${isRequired && html` <span class="required">${words.required}</span>`}`
}

function hintOf({ schema, id }: Field): Html {
  const { description, enum: choices } = schema
  const values = Array.isArray(choices) ? `${choices.slice(0, 20).map(textOf).join(', ')}. ` : ''
  const text = `${values}${typeof description === 'string' ? description : ''}`
  return text === '' ? html`` : html`<p id="${id}-hint" dir="auto">${text}</p>`
}

function textOf(choice: unknown): string {
  return (typeof choice === 'string' ? choice : JSON.stringify(choice)).slice(0, maxLine)
}

/** What a field takes that takes one of some values; a box could not say false, nor leave the default. */
function choicesOf({ type, enum: choices }: Schema): readonly unknown[] | undefined {
  if (Array.isArray(choices)) return choices
  return type === 'boolean' ? [true, false] : undefined
}

/** True for a schema that has a control of its own; any other is typed as JSON. */
function isDrawn(schema: Schema): boolean {
  const { type, items } = schema
  if (choicesOf(schema)) return true
  if (type === 'array') return isRecord(items) && items.type === 'string'
  return type === 'integer' || type === 'number' || type === 'string'
}

function control(field: Field): Html {
  const { name, schema, isRequired, id } = field
  const { type, default: usual, maxLength, minimum, maximum, format } = schema
  const placeholder = placeholderOf(schema)
  const common = html`id="${id}" data-name="${name}"${insideOf(field)} aria-describedby="${id}-hint ${id}-wrong"${isRequired && html` required`}`
  const choices = choicesOf(schema)
  if (choices) {
    const none = usual === undefined ? '' : words.usual(textOf(usual))
    return html`<select ${common} data-kind="choice"><option value="">${none}</option>${choices.slice(0, maxChoices).map((choice) => html`<option value="${JSON.stringify(choice)}">${textOf(choice)}</option>`)}</select>`
  }
  if (type === 'integer' || type === 'number') {
    const bounds = html`${typeof minimum === 'number' && html` min="${minimum}"`}${typeof maximum === 'number' && html` max="${maximum}"`}`
    const step = type === 'number' && html` step="any"`
    return html`<input type="number" ${common}${bounds}${step} placeholder="${placeholder}" data-kind="number">`
  }
  if (type === 'string') {
    const isLong =
      format === 'text' || (typeof maxLength === 'number' && maxLength > maxLine && format === undefined)
    const kind = inputTypes.get(format as string) ?? 'text'
    if (isLong)
      return html`<textarea ${common} dir="auto" rows="3" placeholder="${placeholder}" data-kind="text"></textarea>`
    return html`<input type="${kind}" ${common} dir="auto"${patternOf(schema)} placeholder="${placeholder}" data-kind="text">`
  }
  const isLines = isDrawn(schema)
  return html`<textarea ${common} rows="3" placeholder="${isLines ? words.one_a_line : 'JSON'}" data-kind="${isLines ? 'lines' : 'json'}" spellcheck="false"></textarea>`
}

const inputTypes = new Map([
  ['uri', 'url'],
  ['url', 'url'],
  ['date', 'date'],
  ['email', 'email'],
])

const maxPattern = 200
/** A repeated group, or a reference to one: such patterns can take a browser for ever. */
const explosive = /\)[*+{?]|\\[1-9k]/
const maxRepetitions = 2
/** Each optional part can double the ways to match a text. */
const maxOptional = 8
/** A pattern of HTML matches the whole value, one of JSON Schema a part: only those that state both ends are equal. */
const whole = /^\^(?:[^|]*|\([^()]*\))\$$/s

/** The pattern of a schema for the browser to check. The server of this gateway never runs it. */
function patternOf({ pattern }: Schema): Html | false {
  if (typeof pattern !== 'string' || pattern.length > maxPattern) return false
  const repetitions = pattern.match(/[*+}]/g)?.length ?? 0
  const optional = pattern.match(/\?/g)?.length ?? 0
  if (repetitions > maxRepetitions || optional > maxOptional) return false
  if (!whole.test(pattern) || explosive.test(pattern)) return false
  try {
    new RegExp(pattern, 'v')
  } catch {
    return false
  }
  return html` pattern="${pattern}"`
}

/** The default, which counts when nothing is typed, or an example. */
function placeholderOf({ default: usual, examples }: Schema): string {
  const shown = usual ?? (Array.isArray(examples) ? examples[0] : undefined)
  return shown === undefined || typeof shown === 'object' ? '' : String(shown).slice(0, maxLine)
}
