import { LRUCache } from 'lru-cache'
import type { EntryDetail } from '../../../../../schemas/card.ts'
import { Failure } from '../../../../../schemas/failure.ts'
import type { Readme } from '../../../../../schemas/publisher-file.ts'
import { inThread } from '../../../../common/in-thread.ts'
import { createSemaphore } from '../../../../common/semaphore.ts'
import type { Mount } from '../../../http/app.ts'
import { type Html, html } from '../../html.ts'
import { outside, pageOf, shortened, timeOf } from '../parts.ts'
import type { PageFrame } from '../site.ts'
import type { View } from '../view.ts'
import { agentWords as labels } from '../words.ts'

const noIndex = html`<meta name="robots" content="noindex, nofollow">`
const never = new AbortController().signal
const maxCpu_ms = 2_000
const maxThreads = 2
const maxWaiting = 50
/** Rendered READMEs in memory, each of some 100 KB at most. */
const maxRendered = 100

/** The page of a README. The page of the agent shows its text where somebody opens it. */
export function readmeMounts({ page }: PageFrame, worker: URL): Mount[] {
  const render = createRenderer(worker)
  return [
    page('/agent/:agent/readme', async ({ request, ask }) => {
      const agent = String(request.params.agent)
      const [entry, readme] = await Promise.all([
        ask<EntryDetail>('get_agent', { agent }),
        ask<Readme>('get_readme', { agent }),
      ])
      return readmePage(entry, readme, await render(readme))
    }),
  ]
}

/** Renders a README in a thread, once; what takes too long is shown as it is written. */
function createRenderer(worker: URL) {
  const rendered = new LRUCache<string, Promise<Html>>({ max: maxRendered })
  const busy = () => new Failure('unavailable', 'Too many READMEs wait to be shown.', { retry_after_s: 2 })
  const acquire = createSemaphore(maxThreads, maxWaiting, busy)

  async function render({ text, base_url }: Readme): Promise<Html> {
    // Visitors share a rendering, so that none of them ends it.
    using _slot = await acquire(never)
    try {
      return { html: await inThread<string>(worker, { text, base_url }, maxCpu_ms) }
    } catch {
      return html`<pre tabindex="0">${text}</pre>`
    }
  }

  return (readme: Readme): Promise<Html> => {
    const key = `${readme.url} ${readme.read_at}`
    const found = rendered.get(key) ?? render(readme)
    rendered.set(key, found)
    found.catch(() => rendered.delete(key))
    return found
  }
}

function readmePage(entry: EntryDetail, readme: Readme, body: Html): View {
  const { url, read_at, truncated, content_flags } = readme
  const name = shortened(entry.name)
  const flags =
    content_flags.length > 0 &&
    html`<p class="flagged">${labels.flags} ${content_flags.map((flag) => labels.flag[flag]).join(', ')}.</p>`
  const main = html`<div class="plain"><nav class="crumbs" aria-label="${labels.back}"><a href="${pageOf(entry.package_name)}"><span dir="ltr">${entry.package_name}</span></a></nav>
<h1 dir="auto">${name}</h1>
<h2 class="title">${labels.readme}</h2>
<article id="readme" class="prose" dir="auto"><p class="hint">${labels.readme_note} ${labels.readme_read_at} ${outside(url)}, ${timeOf(read_at)}.</p>${flags}
${body}
${truncated && html`<p class="hint">${labels.readme_more} ${outside(url)}</p>`}</article></div>`
  return { title: `${labels.readme}: ${name}`, main, place: 'browse', head: noIndex }
}
