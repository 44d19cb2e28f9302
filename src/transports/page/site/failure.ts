import type { Failure } from '../../../../schemas/failure.ts'
import { html } from '../html.ts'
import { type AssetPaths, layout } from './layout.ts'
import { words } from './words.ts'

/** The page of an error: what is wrong, what to do, and its code. */
export function failurePage({ code, message, details }: Failure, assets: AssetPaths): string {
  const main = html`<div class="plain"><h1>${words.wrong}</h1><p>${message}</p>
${details.hint !== undefined && html`<p>${details.hint}</p>`}
<p class="hint"><a href="/docs/errors#${code}"><code>${code}</code></a></p>
<p><a class="button" href="/">${words.home}</a></p></div>`
  return layout({ title: `${words.wrong} – ${words.product}`, description: message, main }, assets)
}
