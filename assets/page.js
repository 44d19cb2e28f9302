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
  const { dataset } = document.documentElement
  document.querySelector('[data-theme-switch]')?.addEventListener('click', () => {
    const isDark = dataset.theme
      ? dataset.theme === 'dark'
      : matchMedia('(prefers-color-scheme: dark)').matches
    dataset.theme = isDark ? 'light' : 'dark'
    // A browser that blocks cookies refuses this: the theme is that of the page.
    localStorage.theme = dataset.theme
  })
}

/**
 * Says to a screen reader what has changed on the page. It reads only regions that stand there from the start.
 * @param {string} text
 */
export function announce(text) {
  document.getElementById('announcement')?.replaceChildren(text)
}

/** @param {string} text */
async function copy(text) {
  // Browsers have no clipboard for a page that came by http from another machine.
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const { activeElement } = document
  const area = /** @type {HTMLTextAreaElement} */ (element('textarea', text))
  document.body.append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
  if (activeElement instanceof HTMLElement) activeElement.focus()
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
      await copy(source?.textContent ?? '')
      const done = button.dataset.done ?? label
      button.textContent = done
      announce(done)
      setTimeout(() => {
        button.textContent = label
        announce('')
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
      const page = parse(await answer.text())
      const after = page.getElementById('results')
      if (signal.aborted) return
      if (!answer.ok) return showCount(page.querySelector('main p')?.textContent ?? '')
      if (!after || !before) return location.assign(address)
      before.replaceWith(document.adoptNode(after))
      document.title = page.title
      const [account, next] = [document, page].map((each) => each.querySelector('.account'))
      if (account && next) account.replaceWith(document.adoptNode(next))
      history.replaceState(null, '', address)
      showCount()
    } catch {
      // A later keystroke has ended this search, or the gateway is away.
      if (!signal.aborted) showCount(field.form?.dataset.away)
    } finally {
      clearTimeout(slow)
      before?.removeAttribute('aria-busy')
    }
  }

  /** Says how many were found; what is wrong stands in place of the count. */
  function showCount(fault = '') {
    const count = document.getElementById('count')
    if (count && fault !== '') count.textContent = fault
    announce(count?.textContent ?? '')
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
        ...suggestions.map((/** @type {{ name: string, package_name: string }} */ { name, package_name }) => {
          // Firefox shows the label in place of the name, and only where it has the text.
          const label = name.toLowerCase().includes(text.toLowerCase()) ? '' : package_name
          return Object.assign(element('option', label), { value: name })
        }),
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
  const query = String(values)
  return form.action + (query && `?${query}`)
}

/** @param {HTMLInputElement} field */
function keys(field) {
  document.addEventListener('keydown', (event) => {
    const { key, target } = event
    // A letter alone could be dictated, or be a command of a screen reader (WCAG 2.1.4).
    if ((event.ctrlKey || event.metaKey) && key === 'k') {
      event.preventDefault()
      field.focus()
      field.select()
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (key === 'Escape' && target === field && field.value !== '') {
      field.value = ''
      field.dispatchEvent(new Event('input'))
    }
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

/** What the tab keeps; where the browser blocks cookies and with them its storage, the page does until it is left. */
export const kept = (() => {
  try {
    return sessionStorage
  } catch {
    return /** @type {Record<string, string>} */ ({})
  }
})()

/**
 * The playground session of this tab, made with the first call.
 * @returns {Promise<string>}
 */
export async function openSession() {
  if (kept.playground) return kept.playground
  const { id } = await fetch('/api/playground/session', { method: 'POST' }).then(read)
  kept.playground = id
  return id
}

/** @param {Response} response */
export async function read(response) {
  const body = await response.json()
  if (!response.ok) throw Object.assign(new Error(body.detail), { problem: body })
  return body
}

/**
 * @param {string} name
 * @param {string} text
 */
export function element(name, text, className = '') {
  const made = document.createElement(name)
  made.textContent = text
  made.className = className
  return made
}

/**
 * Puts the text of another page into a part when it is opened; where the gateway is away, when it is opened again.
 * @param {HTMLElement} part
 */
function loading(part) {
  part.addEventListener('toggle', () => load(part).catch(() => loading(part)), { once: true })
}

/** @param {HTMLElement} part */
async function load(part) {
  const { load = '' } = part.dataset
  const text = parse(await (await fetch(load)).text()).querySelector('.prose, .plain > p')
  const body = part.querySelector('.body')
  if (!text || !body) return location.assign(load)
  body.replaceChildren(document.adoptNode(text))
  activate(body)
}

/** Milliseconds within which a form is sent once. */
const pressedTwice = 10_000

/** Sends a form that changes something once, although the answer is slow and somebody presses the button again. */
function sendingOnce() {
  /** @type {WeakMap<HTMLElement, number>} */
  let sent = new WeakMap()
  document.addEventListener('submit', (event) => {
    const { target, submitter } = event
    if (event.defaultPrevented || !submitter || /** @type {HTMLFormElement} */ (target).method !== 'post')
      return
    const now = Date.now()
    if (now - (sent.get(submitter) ?? 0) < pressedTwice) event.preventDefault()
    else sent.set(submitter, now)
  })
  // Somebody came back to the page.
  addEventListener('pageshow', () => {
    sent = new WeakMap()
  })
}

themes()
sendingOnce()
activate(document)
for (const part of all('[data-load]')) loading(part)
const field = /** @type {HTMLInputElement | null} */ (document.querySelector('input[type=search]'))
if (field) keys(field)
if (field && document.getElementById('results')) searching(field)
if (field?.list) suggesting(field, /** @type {HTMLDataListElement} */ (field.list))
