import { randomUUID } from 'node:crypto'
import type { Failure } from '../../../../schemas/failure.ts'
import { type Html, html } from '../html.ts'
import { hintText } from './hint.ts'
import { readFirst } from './parts.ts'
import type { Visit } from './view.ts'
import { words } from './words.ts'

/** What was typed into a form, and why it was refused. */
export interface Typed {
  readonly values: URLSearchParams
  readonly failure?: Failure
}

interface FieldOptions {
  readonly name: string
  readonly label: string
  /** Where errors of this field point to, if it is part of another one. */
  readonly pointer?: string
  readonly hint?: string
  readonly type?: 'text' | 'url' | 'password' | 'number'
  /** Lines of a field with several. */
  readonly rows?: number
  /** The choices of a list, by their values. */
  readonly choices?: readonly (readonly [value: string, label: string])[]
  readonly value?: string
  readonly required?: boolean
  readonly autocomplete?: string
}

/** A field with what was typed before, and what is wrong with it. */
export function field(options: FieldOptions, { values, failure }: Typed): Html {
  const { name, label, hint, type = 'text', rows, choices, required = false, autocomplete = 'off' } = options
  const value = values.get(name) ?? options.value ?? ''
  const fault = faultOf(failure, options.pointer ?? `/${name}`)
  const id = `f-${name}`
  const described = [hint !== undefined && `${id}-hint`, fault !== undefined && `${id}-fault`].filter(Boolean)
  const common = html`id="${id}" name="${name}"${described.length > 0 && html` aria-describedby="${described.join(' ')}"`}${fault !== undefined && html` aria-invalid="true"`}${required && html` required`}`
  const control =
    choices !== undefined
      ? html`<select ${common}>${choices.map(([each, text]) => html`<option value="${each}"${each === value && html` selected`}>${text}</option>`)}</select>`
      : rows !== undefined
        ? html`<textarea ${common} dir="auto" rows="${rows}" spellcheck="false">${value}</textarea>`
        : html`<input type="${type}" ${common} dir="auto" value="${value}" autocomplete="${autocomplete}">`
  return html`<div><label for="${id}">${label}</label>${required && html` <span class="required">${words.required}</span>`}${control}${hint !== undefined && html`<p id="${id}-hint">${hint}</p>`}${fault !== undefined && html`<p class="wrong" id="${id}-fault">${fault}</p>`}</div>`
}

/** A box to tick; ticked boxes of one name are sent together. */
export function box(name: string, value: string, label: string, isChecked: boolean): Html {
  return html`<label class="box"><input type="checkbox" name="${name}" value="${value}"${isChecked && html` checked`}>${label}</label>`
}

/** What is wrong with one field: the errors at its JSON Pointer. */
function faultOf(failure: Failure | undefined, place: string): string | undefined {
  const errors = failure?.details.errors?.filter(
    ({ pointer }) => pointer === place || pointer.startsWith(`${place}/`),
  )
  return errors && errors.length > 0 ? errors.map(({ detail }) => detail).join(' ') : undefined
}

/** What is wrong with a form as a whole, and in which of its fields; the page is read from there. */
export function problem({ values, failure }: Typed): Html | false {
  if (!failure) return false
  const { message, details, code } = failure
  const { errors = [] } = details
  // The message of an input that is wrong names the place of its first error, for programs.
  const isFirst = errors.some(({ pointer, detail }) => message === `${pointer}: ${detail}`)
  const shown = isFirst ? errors : errors.filter(({ detail }) => !message.endsWith(detail))
  return html`<div class="note bad" role="alert"${readFirst}><p><strong>${isFirst ? words.wrong : message}</strong></p>${shown.map(({ pointer, detail }) => html`<p>${placeOf(pointer, values)}: ${detail}</p>`)}${details.hint !== undefined && html`<p>${hintText(details.hint)}</p>`}<p class="hint"><a href="/docs/errors#${code}"><code>${code}</code></a></p></div>`
}

/** A link to the field at a JSON Pointer; the pointer itself where the form has no such field. */
function placeOf(pointer: string, values: URLSearchParams): Html {
  const [, name = ''] = pointer.split('/')
  if (!values.has(name)) return html`<code>${pointer}</code>`
  return html`<a href="#f-${name}">${name.replaceAll('_', ' ')}</a>`
}

interface ButtonOptions {
  readonly action: string
  readonly label: string
  readonly fields?: Readonly<Record<string, string>>
  readonly isMain?: boolean
  /** What it is about, where several such buttons stand below each other. */
  readonly of?: string
}

/** A form that is one button. */
export function button(
  { token }: Visit,
  { action, label, fields = {}, isMain = false, of }: ButtonOptions,
): Html {
  return html`<form method="post" action="${action}">${onceFields({ token }, fields)}<button class="button small${isMain ? ' main' : ''}"${named(label, of)}>${label}</button></form>`
}

/** A button for what cannot be undone, which is opened first. `sure` is the label of the button. */
export function sureButton(
  visit: Visit,
  { label, sure, of, ...options }: ButtonOptions & { readonly sure: string },
): Html {
  return html`<details class="sure"><summary${named(label, of)}>${label}</summary>${button(visit, { ...options, label: sure, ...(of !== undefined && { of }) })}</details>`
}

function named(label: string, of: string | undefined): Html | false {
  return of !== undefined && html` aria-label="${label}: ${of}"`
}

/**
 * What each form with `method="post"` needs that does something: sent twice, it is done once, and the second answer is
 * that of the first.
 */
export function onceFields(
  { token }: Pick<Visit, 'token'>,
  fields: Readonly<Record<string, string>> = {},
): Html[] {
  return hidden({ token: token(), once: randomUUID(), ...fields })
}

/** Fields that are sent as they are. */
function hidden(fields: Readonly<Record<string, string>>): Html[] {
  return Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )
}

/** A time for people and for programs. */
export function time(at: string): Html {
  return html`<time datetime="${at}">${at.slice(0, 16).replace('T', ' ')}</time>`
}
