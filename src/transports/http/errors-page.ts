import type { TransportContext } from '../shared/transport-context.ts'
import type { Mount } from './app.ts'
import { pageMount } from './page.ts'
import { errorsPath } from './respond.ts'

/** docs/troubleshooting.md as a page for browsers: a section for each code. */
export function errorsMount(
  context: Pick<TransportContext, 'limits' | 'trusted_proxies' | 'site'>,
  guide: string,
): Mount {
  return pageMount(context, {
    path: errorsPath,
    type: 'text/html; charset=utf-8',
    render: () => pageOf(guide),
    max_age_s: 3600,
  })
}

const style =
  'body{font:1rem/1.5 system-ui;max-width:44rem;margin:2rem auto;padding:0 1rem}pre{overflow:auto}'

/** Only the Markdown of the guide: headings, paragraphs, code blocks and code. */
function pageOf(guide: string): string {
  const [code, ...rest] = guide.split(/^```.*$/m)
  const body = [
    blocksOf(code ?? ''),
    ...rest.map((part, at) => (at % 2 === 0 ? `<pre>${escaped(part)}</pre>` : blocksOf(part))),
  ]
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Troubleshooting</title><style>${style}</style>${body.join('\n')}</html>\n`
}

function blocksOf(markdown: string): string {
  return markdown
    .split(/\n{2,}/)
    .map((block) => block.trim())
    .filter(Boolean)
    .map(blockOf)
    .join('\n')
}

function blockOf(block: string): string {
  const heading = /^(#+) (.*)$/.exec(block)
  if (!heading) return `<p>${inline(block)}</p>`
  const [, marks = '', text = ''] = heading
  const tag = `h${marks.length}`
  return `<${tag} id="${escaped(text)}">${inline(text)}</${tag}>`
}

function inline(text: string): string {
  return escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>')
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
