// Shows what is to be corrected while a card or a form is typed.

import { announce, parse } from './page.js'

/** Milliseconds without a keystroke after which the form is checked. */
const pause = 500

const form = /** @type {HTMLFormElement | null} */ (document.querySelector('form[action="/publish"]'))
let timer = 0
let controller = new AbortController()

async function check() {
  if (!form) return
  controller.abort()
  controller = new AbortController()
  const { signal } = controller
  const body = new URLSearchParams(/** @type {any} */ (new FormData(form)))
  body.set('do', 'check')
  // Each check is made anew.
  body.delete('once')
  try {
    const answer = await fetch(form.action, { method: 'POST', body, signal })
    const after = parse(await answer.text()).getElementById('findings')
    const before = document.getElementById('findings')
    if (signal.aborted || !after || !before) return
    // Somebody is typing.
    after.querySelector('[autofocus]')?.removeAttribute('autofocus')
    before.replaceWith(document.adoptNode(after))
    announce(after.querySelector('.note')?.textContent ?? '')
  } catch {
    // The gateway is away, or more was typed: the button shows what is wrong.
  }
}

// An address is fetched by the gateway: it is checked when it is whole.
form?.addEventListener(form.elements.namedItem('manifest_url') ? 'change' : 'input', () => {
  clearTimeout(timer)
  timer = setTimeout(check, pause)
})
