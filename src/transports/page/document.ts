import type { Page } from '../../auth/authorization-server/pages.ts'
import { type Html, html } from './html.ts'
import { mark } from './mark.ts'
import { style, styleSource } from './style.ts'

interface DocumentOptions {
  readonly title: string
  readonly body: Html
  /** Where a form of the page may lead, beside the gateway itself. */
  readonly formTarget?: string
}

/** A whole page. It has no script, nobody may put it in a frame, and nothing caches it. */
export function page({ title, body, formTarget = '' }: DocumentOptions): Page {
  const document = html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – Dragoman</title>
<style>${{ html: style }}</style>
</head>
<body>
<header>${mark}Dragoman</header>
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
      'Content-Security-Policy': `default-src 'none'; style-src ${styleSource}; font-src 'self'; form-action ${`'self' ${formTarget}`.trim()}; base-uri 'none'; frame-ancestors 'none'`,
      'X-Frame-Options': 'DENY',
      'Cache-Control': 'no-store',
    },
  }
}
