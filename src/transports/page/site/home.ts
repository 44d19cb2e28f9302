import { knownCategories } from '../../../../schemas/categories.ts'
import type { AgentPage } from '../../../../schemas/search.ts'
import { html } from '../html.ts'
import { countOf, titleOf } from './formats.ts'
import { howToFill, jsonOf, searchField, tryOut } from './parts.ts'
import type { View } from './view.ts'
import { words } from './words.ts'

/** Number of categories on the front page. */
const maxCategories = 24

/** The front page: search, examples, one call in four protocols, and what is listed. */
export function home({ total, facets }: AgentPage, base: string): View {
  const callable = facets?.callable ?? {}
  const categories = knownCategories(facets).slice(0, maxCategories)
  const count = (...kinds: string[]) => kinds.reduce((sum, kind) => sum + (callable[kind] ?? 0), 0)
  const counts = [
    [total, words.listed, '/search'],
    [
      count('hosted', 'open', 'needs_key', 'needs_sign_in'),
      words.callable,
      '/search?callable=hosted,open,needs_key,needs_sign_in',
    ],
    [count('package'), words.packages, '/search?callable=package'],
  ] as const
  const main = html`
<div class="hero">
<div>
<h1>${words.headline}</h1>
<p class="lead">${words.lead}</p>
${searchField('', [], { suggests: true })}
${tryOut(total)}
${howToFill(total)}
</div>
${oneCall(base)}
</div>
<dl class="counts">${counts.map(([number, text, path]) => html`<div><dt><a href="${path}">${text}</a></dt><dd>${countOf(number)}</dd></div>`)}</dl>
${
  categories.length > 0 &&
  html`<h2 class="title">${words.categories}</h2>
<ul class="columns">${categories.map(
    ([slug, number]) =>
      html`<li><a href="/search?category=${encodeURIComponent(slug)}">${titleOf(slug)} <span class="count">${countOf(number)}</span></a></li>`,
  )}</ul>`
}`
  return { title: words.product, main }
}

/** The same call in four protocols, in tabs that need no script. */
function oneCall(base: string) {
  const to = 'svc.utility.reader'
  const action = 'extract_content'
  const params = { url: 'https://example.com/' }
  const calls = [
    ['rest', 'REST', `POST ${base}/a2a/message`, { to, action, params }],
    [
      'a2a',
      'A2A',
      `POST ${base}/a2a/v1/${to}/message:send\nA2A-Version: 1.0`,
      { message: { messageId: '1', role: 'ROLE_USER', parts: [{ data: { action, params } }] } },
    ],
    ['rpc', 'JSON-RPC', `POST ${base}/rpc`, { jsonrpc: '2.0', id: 1, method: `reader.${action}`, params }],
    [
      'mcp',
      'MCP',
      `${base}/mcp`,
      { method: 'tools/call', params: { name: 'call_agent', arguments: { agent: to, action, params } } },
    ],
  ] as const
  return html`<div class="demo">
<div class="tabs" role="radiogroup" aria-label="${words.one_call}">${calls.map(([id, label], index) => html`<label><input type="radio" name="say" id="say-${id}"${index === 0 && html` checked`}>${label}</label>`)}</div>
${calls.map(
  ([
    id,
    label,
    line,
    body,
  ]) => html`<pre class="say-${id}" tabindex="0" role="group" aria-label="${label}">${line}

${jsonOf(body)}</pre>`,
)}
</div>`
}
