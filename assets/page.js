// What the pages can do with scripts; without them every link and form works too.

/** Milliseconds without a keystroke after which a search starts. */
const pause = 90
/** Milliseconds after which a search that still runs is shown as such. */
const patience = 120

/** The only place where text becomes HTML: answers of this gateway, whose texts are escaped. */
const policy = /** @type {any} */ (globalThis).trustedTypes?.createPolicy('page', {
  createHTML: (/** @type {string} */ text) => text,
})

/** @param {string} text */
export function parse(text) {
  return new DOMParser().parseFromString(policy ? policy.createHTML(text) : text, 'text/html')
}

/** @param {string} selector */
function all(selector) {
  return /** @type {HTMLElement[]} */ ([...document.querySelectorAll(selector)])
}

function themes() {
  const root = document.documentElement
  for (const button of all('[data-theme-switch]')) {
    button.addEventListener('click', () => {
      const isDark = root.dataset.theme
        ? root.dataset.theme === 'dark'
        : matchMedia('(prefers-color-scheme: dark)').matches
      root.dataset.theme = isDark ? 'light' : 'dark'
      localStorage.setItem('theme', root.dataset.theme)
    })
  }
}

/**
 * Makes the buttons that copy work.
 * @param {ParentNode} part
 */
export function activate(part) {
  for (const button of /** @type {Iterable<HTMLElement>} */ (part.querySelectorAll('[data-copy]'))) {
    const label = button.textContent ?? ''
    button.addEventListener('click', async () => {
      const source = document.getElementById(button.dataset.copy ?? '')
      await navigator.clipboard.writeText(source?.textContent ?? '')
      const done = button.dataset.done ?? label
      button.textContent = done
      const status = document.getElementById('copied')
      status?.replaceChildren(done)
      setTimeout(() => {
        button.textContent = label
        status?.replaceChildren()
      }, 1500)
    })
  }
}

/** @param {HTMLInputElement} field */
function searching(field) {
  let timer = 0
  let controller = new AbortController()

  async function search() {
    controller.abort()
    controller = new AbortController()
    const { signal } = controller
    const address = addressOf(field)
    const before = document.getElementById('results')
    const slow = setTimeout(() => before?.setAttribute('aria-busy', 'true'), patience)
    try {
      const answer = await fetch(address, { signal })
      const text = await answer.text()
      const after = parse(text).getElementById('results')
      if (signal.aborted) return
      if (!answer.ok || !after || !before) return location.assign(address)
      before.replaceWith(document.adoptNode(after))
      history.replaceState(null, '', address)
    } catch {
      // A later keystroke has ended this search, or the gateway is away: Enter shows what is wrong.
    } finally {
      clearTimeout(slow)
      before?.removeAttribute('aria-busy')
    }
  }

  field.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(search, pause)
  })
}

/**
 * Offers names of agents that complete what is typed.
 * @param {HTMLInputElement} field
 * @param {HTMLDataListElement} list
 */
function suggesting(field, list) {
  let timer = 0
  let controller = new AbortController()

  async function suggest() {
    controller.abort()
    controller = new AbortController()
    const { signal } = controller
    const text = field.value.trim().slice(0, 100)
    if (text === '') return list.replaceChildren()
    try {
      const answer = await fetch(`/public/suggest?q=${encodeURIComponent(text)}`, { signal })
      const { suggestions } = await read(answer)
      list.replaceChildren(
        ...suggestions.map((/** @type {{ name: string, package_name: string }} */ { name, package_name }) =>
          Object.assign(element('option', package_name), { value: name }),
        ),
      )
    } catch {
      // A later keystroke has ended this request, or the gateway is away: the field works without the list.
    }
  }

  field.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(suggest, pause)
  })
}

/**
 * The address of a search as the form would send it.
 * @param {HTMLInputElement} field
 */
function addressOf(field) {
  const form = /** @type {HTMLFormElement} */ (field.form)
  const values = new URLSearchParams()
  for (const [name, value] of new FormData(form)) if (value !== '') values.append(name, String(value))
  return `${form.action}?${values}`
}

/** @param {HTMLInputElement} field */
function keys(field) {
  document.addEventListener('keydown', (event) => {
    const { key, target } = event
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const isTyping = target instanceof HTMLElement && target.matches('input, textarea, select')
    if (key === '/' && !isTyping) {
      event.preventDefault()
      field.focus()
      field.select()
    }
    if (key === 'Escape' && target === field) field.value = ''
    if (key !== 'ArrowDown' && key !== 'ArrowUp') return
    const links = all('#results h2 a')
    const at = links.indexOf(/** @type {HTMLElement} */ (document.activeElement))
    if (links.length === 0 || (at < 0 && target !== field)) return
    event.preventDefault()
    const next = at + (key === 'ArrowDown' ? 1 : -1)
    if (next < 0) field.focus()
    else links[Math.min(next, links.length - 1)]?.focus()
  })
}

/** Where a tab keeps the id of its playground session. */
export const sessionKey = 'playground'

/**
 * The playground session of this tab, made with the first call.
 * @returns {Promise<string>}
 */
export async function openSession() {
  const open = sessionStorage.getItem(sessionKey)
  if (open) return open
  const { id } = await fetch('/api/playground/session', { method: 'POST' }).then(read)
  sessionStorage.setItem(sessionKey, id)
  return id
}

/** @param {Response} response */
export async function read(response) {
  const body = await response.json()
  if (!response.ok) throw Object.assign(new Error(body.detail), { problem: body })
  return body
}

/** @param {HTMLFormElement} form */
function calling(form) {
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const answer = /** @type {HTMLElement} */ (form.querySelector('.answer'))
    clearFaults(form)
    const input = inputOf(form)
    if (!input) return
    answer.setAttribute('aria-busy', 'true')
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
      answer.removeAttribute('aria-busy')
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
  const body = new URLSearchParams({ token, capability, input: JSON.stringify(input) })
  const response = await fetch(`/agent/${encodeURIComponent(agent)}/call`, { method: 'POST', body })
  const page = parse(await response.text())
  const shown = page.getElementById('answer') ?? page.querySelector('#main > *')
  if (!shown) return
  // After a session has changed, this form is sent again in the new one, and not a form within it.
  const next = /** @type {HTMLInputElement | null} */ (page.querySelector('input[name=token]'))
  if (next) form.dataset.token = next.value
  for (const part of shown.querySelectorAll('form, dl')) part.remove()
  for (const title of shown.querySelectorAll('h1')) title.replaceWith(element('p', title.textContent ?? ''))
  shown.removeAttribute('id')
  answer.replaceChildren(document.adoptNode(shown))
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
    sessionStorage.removeItem(sessionKey)
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

/**
 * @param {string} name
 * @param {string} text
 */
function element(name, text, className = '') {
  const made = document.createElement(name)
  made.textContent = text
  made.className = className
  return made
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

/**
 * Puts the text of another page into a part that is opened for the first time.
 * @param {HTMLElement} part
 */
async function loading(part) {
  const { load = '' } = part.dataset
  const text = parse(await (await fetch(load)).text()).querySelector('.prose, .plain > p')
  const body = part.querySelector('.body')
  if (!text || !body) return location.assign(load)
  body.replaceChildren(document.adoptNode(text))
  activate(body)
}

themes()
activate(document)
for (const part of all('[data-load]')) part.addEventListener('toggle', () => loading(part), { once: true })
for (const form of document.querySelectorAll('form.call')) calling(/** @type {HTMLFormElement} */ (form))
const field = /** @type {HTMLInputElement | null} */ (document.querySelector('input[type=search]'))
if (field) keys(field)
if (field && document.getElementById('results')) searching(field)
if (field?.list) suggesting(field, /** @type {HTMLDataListElement} */ (field.list))
