// The console: each call is a step of a session, which the tab keeps. call.js makes the calls.
import { activate, announce, element, kept, openSession, parse, read } from './page.js'

const steps = /** @type {HTMLFormElement} */ (document.querySelector('form.steps'))

/** Shows the steps of the session, if there is one. */
async function show() {
  const id = kept.playground
  if (!id) return
  const fields = /** @type {any} */ (steps.elements)
  fields.session.value = id
  const body = new URLSearchParams(/** @type {any} */ (new FormData(steps)))
  const answer = await fetch(steps.action, { method: 'POST', body })
  const list = parse(await answer.text()).getElementById('steps')
  // A session lives for an hour.
  if (!list) return void delete kept.playground
  document.getElementById('steps')?.replaceWith(document.adoptNode(list))
  activate(steps)
  steps.querySelector('[data-forget]')?.addEventListener('click', forget)
}

async function forget() {
  const id = kept.playground
  delete kept.playground
  await fetch(`/api/playground/session/${id}`, { method: 'DELETE' })
  location.reload()
}

/** @param {SubmitEvent} event */
async function discover(event) {
  const form = /** @type {HTMLFormElement} */ (event.target)
  const query = String(new FormData(form).get('q') ?? '').trim()
  if (query === '') return
  event.preventDefault()
  try {
    const headers = { 'Content-Type': 'application/json' }
    const path = `/api/playground/session/${await openSession()}/discover`
    const body = JSON.stringify({ query, limit: 8 })
    await fetch(path, { method: 'POST', headers, body }).then(read)
  } catch (fault) {
    // The gateway is away, and its page would be too.
    if (!(/** @type {any} */ (fault).problem)) return away(form)
  }
  // The page shows what it found, or why it found nothing.
  location.assign(`${form.action}?${new URLSearchParams({ q: query })}`)
}

/** @param {HTMLFormElement} form */
function away(form) {
  const { away = '' } = form.dataset
  form.parentElement?.querySelector('.note')?.remove()
  form.after(element('p', away, 'note'))
  announce(away)
}

document
  .querySelector('[data-discover] form')
  ?.addEventListener('submit', (event) => void discover(/** @type {SubmitEvent} */ (event)))
document.addEventListener('step', () => void show())
void show()
