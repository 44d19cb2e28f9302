// The forms that call an agent: as the person who is signed in, or in a session of the playground.

import { announce, element, kept, openSession, parse, read } from './page.js'

/** Milliseconds after which a call that still runs is shown as such. */
const patience = 120

/** @param {HTMLFormElement} form */
function calling(form) {
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const answer = /** @type {HTMLElement} */ (form.querySelector('.answer'))
    // Whoever presses twice calls once.
    if (answer.hasAttribute('aria-busy')) return
    clearFaults(form)
    const input = inputOf(form)
    if (!input) return
    answer.setAttribute('aria-busy', 'true')
    const slow = setTimeout(() => {
      answer.replaceChildren(element('p', form.dataset.calling ?? '', 'hint'))
      announce(form.dataset.calling ?? '')
    }, patience)
    const started = performance.now()
    try {
      const { agent, capability } = form.dataset
      if (form.dataset.token) {
        await callAsPerson(form, answer, input)
        return
      }
      const { output } = await execute({ agent, capability, input })
      const took = `${Math.round(performance.now() - started)} ms`
      answer.replaceChildren(element('p', took, 'hint'), ...jsonOf(output, form.dataset.cut ?? ''))
    } catch (fault) {
      showProblem(form, answer, /** @type {any} */ (fault).problem ?? { detail: form.dataset.away })
    } finally {
      clearTimeout(slow)
      answer.removeAttribute('aria-busy')
      announce(answer.querySelector('.note, .hint')?.textContent ?? '')
      document.dispatchEvent(new Event('step'))
    }
  })
}

/**
 * Calls in the name of the person who is signed in, and shows what the page of the answer shows.
 * @param {HTMLFormElement} form
 * @param {HTMLElement} answer
 * @param {object} input
 */
async function callAsPerson(form, answer, input) {
  const { agent = '', capability = '', token = '' } = form.dataset
  document.querySelector('.reply')?.remove()
  const body = new URLSearchParams({ token, capability, input: JSON.stringify(input) })
  const response = await fetch(`/agent/${encodeURIComponent(agent)}/call`, { method: 'POST', body })
  const page = parse(await response.text())
  const shown = page.getElementById('answer') ?? page.querySelector('#main > *')
  if (!shown) return
  // After a session has changed, this form is sent again in the new one, and not a form within it.
  const next = /** @type {HTMLInputElement | null} */ (page.querySelector('input[name=token]'))
  if (next) form.dataset.token = next.value
  const reply = shown.querySelector('.reply')
  reply?.remove()
  for (const part of shown.querySelectorAll('form, dl')) part.remove()
  for (const title of shown.querySelectorAll('h1')) title.replaceWith(element('p', title.textContent ?? ''))
  shown.removeAttribute('id')
  answer.replaceChildren(document.adoptNode(shown))
  // No form stands within another one.
  if (reply) form.after(document.adoptNode(reply))
  showFaults(form, JSON.parse(/** @type {HTMLElement} */ (shown).dataset.errors ?? '[]'))
}

/**
 * Calls in the session of this page, or in a new one if that has ended.
 * @param {object} request
 */
async function execute(request, isAgain = false) {
  const id = await openSession()
  const headers = { 'Content-Type': 'application/json' }
  const body = JSON.stringify(request)
  const response = await fetch(`/api/playground/session/${id}/execute`, { method: 'POST', headers, body })
  if (response.status === 404 && !isAgain) {
    delete kept.playground
    return execute(request, true)
  }
  return read(response)
}

/**
 * What the fields hold, without empty ones; undefined if one is wrong.
 * @param {HTMLFormElement} form
 */
function inputOf(form) {
  // Without a prototype, so that no name of a publisher reaches one.
  let input = Object.create(null)
  let isWrong = false
  for (const control of /** @type {Iterable<any>} */ (form.elements)) {
    const { kind, name, in: within } = control.dataset
    if (!kind) continue
    try {
      const value = readControl(control, kind)
      if (value === undefined) continue
      if (kind === 'whole') input = value
      else put(input, within, name, value, kind)
    } catch (fault) {
      showFault(control, fault instanceof SyntaxError ? (form.dataset.json ?? '') : String(fault))
      if (!isWrong) control.focus()
      isWrong = true
    }
  }
  return isWrong ? undefined : input
}

/**
 * Puts a value into the input, or into the object of that name within it; boxes of one name are a list.
 * @param {Record<string, any>} input
 * @param {string | undefined} within
 * @param {string} name
 * @param {unknown} value
 * @param {string} kind
 */
function put(input, within, name, value, kind) {
  if (within !== undefined && !input[within]) input[within] = Object.create(null)
  const object = within === undefined ? input : input[within]
  object[name] = kind === 'boxes' ? [...(object[name] ?? []), value] : value
}

/**
 * The value of a control; undefined for an empty one. Throws a text of the form that says what is wrong, or SyntaxError.
 * @param {any} control
 * @param {string} kind
 */
function readControl(control, kind) {
  const { value, checked, required, validity, form } = control
  if (kind === 'boxes') return checked ? JSON.parse(value) : undefined
  if (value === '') {
    if (validity?.badInput) throw form.dataset.number
    if (required && !form.querySelector('[data-kind=whole]')?.value) throw form.dataset.required
    return undefined
  }
  if (validity?.patternMismatch) throw form.dataset.pattern
  return typedValue(kind, value)
}

/**
 * @param {string} kind
 * @param {string} value
 */
function typedValue(kind, value) {
  if (kind === 'number') return Number(value)
  if (kind === 'lines') return value.split('\n').filter(Boolean)
  return kind === 'text' ? value : JSON.parse(value)
}

/** @param {HTMLFormElement} form */
function clearFaults(form) {
  for (const text of form.querySelectorAll('.wrong')) text.textContent = ''
  for (const control of form.elements) control.removeAttribute('aria-invalid')
}

/**
 * @param {HTMLElement} control
 * @param {string} text
 */
function showFault(control, text) {
  control.setAttribute('aria-invalid', 'true')
  const place = document.getElementById(`${control.id}-wrong`)
  if (place) place.textContent = text
}

/**
 * @param {HTMLFormElement} form
 * @param {{ pointer: string, detail: string }[]} errors
 */
function showFaults(form, errors) {
  for (const { pointer, detail } of errors) {
    const name = pointer.replace(/^\/(?:(?:input|params)\/)?/, '').split('/')[0] ?? ''
    const controls = /** @type {HTMLElement[]} */ ([...form.elements])
    const control = controls.find(({ dataset }) => dataset.name === name)
    if (control) showFault(control, detail)
  }
}

/**
 * A problem (RFC 9457): what is wrong at fields stands at the fields.
 * @param {HTMLFormElement} form
 * @param {HTMLElement} answer
 * @param {any} problem
 */
function showProblem(form, answer, { detail, hint, code, errors = [] }) {
  showFaults(form, errors)
  const lines = [element('p', detail), hint && element('p', hint), code && element('code', code)]
  const note = element('div', '', 'note')
  note.append(...lines.filter(Boolean))
  answer.replaceChildren(note)
}

/** Characters of an answer that are shown. */
const maxAnswer = 100_000

/**
 * JSON with its texts in colour; what is long is cut, and a line says how much is left.
 * @param {unknown} value
 * @param {string} cut
 */
function jsonOf(value, cut) {
  const pre = document.createElement('pre')
  pre.tabIndex = 0
  const text = JSON.stringify(value, null, 2)
  const left = text.length - maxAnswer
  // As on the server: a text that was cut may end within a string.
  const parts = text.slice(0, maxAnswer).split(/("(?:[^"\\]|\\[\s\S])*(?:":?|\\?$))/)
  pre.append(
    ...parts.map((part, index) =>
      index % 2 === 1 && !part.endsWith(':') ? element('span', part, 'string') : part,
    ),
  )
  return left > 0 ? [pre, element('p', cut.replace('#', String(left)), 'hint')] : [pre]
}

for (const form of document.querySelectorAll('form.call')) calling(/** @type {HTMLFormElement} */ (form))
