import { html } from './html.ts'

/** Two circles, and what they share. */
export const mark = html`<svg viewBox="0 0 32 32" aria-hidden="true"><g class="ring" fill="none" stroke-width="2"><circle cx="11" cy="16" r="9"/><circle cx="21" cy="16" r="9"/></g><path class="lens" d="M16 8.5a9 9 0 0 1 0 15 9 9 0 0 1 0-15z"/></svg>`
