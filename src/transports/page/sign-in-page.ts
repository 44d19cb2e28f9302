import { hash } from 'node:crypto'
import type { Page } from '../../auth/authorization-server/pages.ts'
import { type Html, html } from './html.ts'
import { mark } from './mark.ts'

/** The style of the pages of sign-in, light and dark: they load nothing but the font and the icon of the site. */
const style = `
@font-face{font-family:Inter;src:url(/-/sign-in/inter.woff2) format("woff2");font-weight:100 900;font-display:swap}
:root{color-scheme:light dark;--paper:#fbfaf7;--surface:#fff;--ink:#1b2127;--soft:#4a535c;--line:#c9c4b9;--edge:#8f897d;--accent:#0b6670;--on:#fff;--wash:#e3f1f1;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--paper:#11151a;--surface:#171c22;--ink:#eceae4;--soft:#b4bac0;--line:#414c57;--edge:#66727e;--accent:#5cc8cf;--on:#062125;--wash:#12292d;--bad:#ff8a80}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:400 1rem/1.55 Inter,system-ui,sans-serif}
header{max-width:30rem;margin:0 auto;padding:16px 16px 0;font-weight:620;font-size:1.0625rem;letter-spacing:-.01em}
header a{display:flex;align-items:center;gap:10px;min-height:44px;color:inherit;text-decoration:none}
header svg{width:28px;height:28px}
.ring{stroke:var(--ink)}
.lens{fill:var(--accent)}
main{max-width:30rem;margin:0 auto;padding:32px 16px 48px}
h1{font-weight:620;font-size:1.75rem;line-height:1.2;letter-spacing:-.02em;margin:0 0 16px;overflow-wrap:anywhere}
p{margin:0 0 16px}
ul{margin:0 0 16px;padding-left:20px}
li{margin:4px 0}
strong{overflow-wrap:anywhere}
code{font:.875em ui-monospace,Menlo,Consolas,monospace}
.soft{color:var(--soft)}
.notice{background:var(--wash);border-radius:8px;padding:12px 16px}
.bad{color:var(--bad)}
.actions{display:flex;flex-wrap:wrap;gap:12px;margin:24px 0}
button,.button{display:inline-block;min-height:44px;padding:10px 20px;border:1px solid var(--line);border-radius:8px;background:var(--surface);color:var(--ink);font:inherit;font-weight:550;text-decoration:none;cursor:pointer}
.main{background:var(--accent);border-color:var(--accent);color:var(--on)}
input[type=text]{display:block;width:100%;min-height:44px;padding:10px 12px;border:1px solid var(--edge);border-radius:8px;background:var(--surface);color:var(--ink);font:1.25rem ui-monospace,Menlo,Consolas,monospace;letter-spacing:.08em}
a{color:var(--accent)}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
`

/** A source of Content Security Policy that permits the style and nothing else. */
const styleSource = `'sha256-${hash('sha256', style, 'base64')}'`

interface PageOptions {
  readonly title: string
  readonly body: Html
  /** Where a form of the page may lead, beside the gateway itself. */
  readonly formTarget?: string
}

/** A whole page. It has no script, nobody may put it in a frame, and nothing caches it. */
export function page({ title, body, formTarget = '' }: PageOptions): Page {
  const document = html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – Dragoman</title>
<style>${{ html: style }}</style>
</head>
<body>
<header><a href="/">${mark}Dragoman</a></header>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`
  return {
    html: document.html,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': `default-src 'none'; style-src ${styleSource}; font-src 'self'; img-src 'self'; form-action ${`'self' ${formTarget}`.trim()}; base-uri 'none'; frame-ancestors 'none'`,
      'X-Frame-Options': 'DENY',
      'Cache-Control': 'no-store',
    },
  }
}
