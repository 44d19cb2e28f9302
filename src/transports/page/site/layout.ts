import { type Html, html } from '../html.ts'
import { mark } from '../mark.ts'
import type { AssetPaths } from './assets.ts'
import type { Place, View } from './view.ts'
import type { Visitor } from './visitor.ts'
import { changeWords, words } from './words.ts'

const half = html`<svg viewBox="0 0 16 16" aria-hidden="true"><circle cx="8" cy="8" r="6.5" fill="none" stroke="currentColor" stroke-width="1.5"/><path d="M8 1.5v13a6.5 6.5 0 0 0 0-13z" fill="currentColor"/></svg>`

/**
 * A whole page of the site, with its head and foot. `visitor` is unknown while it could not be read; `here` is the
 * address to which a sign-in leads back.
 */
export function layout(view: View, visitor: Visitor | undefined, assets: AssetPaths, here = '/'): string {
  const { title, description = words.lead, main, place, script, head } = view
  const current = (name: Place) => name === place && html` aria-current="page"`
  return html`<!DOCTYPE html>
<html lang="${words.lang}" dir="${words.dir}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title === words.product ? title : `${title} – ${words.product}`}</title>
<meta name="description" content="${description}">
<link rel="preload" href="${assets.font}" as="font" type="font/woff2" crossorigin>
<link rel="stylesheet" href="${assets.style}">
<link rel="icon" href="${assets.inlineIcon}" type="image/svg+xml">
<link rel="search" href="/opensearch.xml" type="application/opensearchdescription+xml" title="${words.product}">
<link rel="ard" href="/.well-known/ard.json">
<link rel="alternate" href="/changes.atom" type="application/atom+xml" title="${changeWords.title}">
<script src="${assets.theme}"></script>
<script src="${assets.scripts[script ?? 'page']}" type="module"></script>${head ?? ''}
</head>
<body>
<a class="skip" href="#main">${words.skip}</a>
<header class="head"><div class="wrap">
<a class="brand" href="/">${mark}${words.product}</a>
<nav aria-label="${words.product}"><ul>
<li><a href="/search"${current('browse')}>${words.browse}</a></li>
<li><a href="/connect"${current('connect')}>${words.connect}</a></li>
<li class="wide"><a href="/publish"${current('publish')}>${words.me.publish}</a></li>
<li class="wide"><a href="/play"${current('play')}>${words.play.title}</a></li>
<li class="wide"><a href="/docs"${current('docs')}>${words.docs.title}</a></li>
</ul></nav>
${account(visitor, current('account'), here)}
<button class="round" type="button" data-theme-switch aria-label="${words.theme}">${half}</button>
</div></header>
<main id="main" class="wrap">
${main}
</main>
<footer class="foot"><div class="wrap"><span>${words.product}</span><span class="skip" role="status" id="announcement"></span><a class="narrow" href="/publish">${words.me.publish}</a><a class="narrow" href="/play">${words.play.title}</a><a href="/docs">${words.docs.title}</a><a href="/docs/api">${words.api.title}</a><a href="/docs/errors">${words.api.errors}</a><a href="/status">${words.status.title}</a><a href="/llms.txt">llms.txt</a><a href="/.well-known/agent-card.json">Agent card</a></div></footer>
</body>
</html>
`.html
}

function account(visitor: Visitor | undefined, current: Html | false, here: string): Html {
  if (visitor?.person) return html`<a class="account" href="/me"${current}>${visitor.person.name}</a>`
  const then = here !== '/' && `?then=${encodeURIComponent(here)}`
  return html`<a class="account" href="/sign-in${then}" rel="nofollow">${visitor?.expired ? words.sign_in_again : words.sign_in}</a>`
}
