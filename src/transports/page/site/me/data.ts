import { Failure } from '../../../../../schemas/failure.ts'
import { type PersonalDataPage, PersonalTable } from '../../../../../schemas/personal-data.ts'
import type { Usage } from '../../../../../schemas/quota.ts'
import type { Mount } from '../../../http/app.ts'
import { type Html, html } from '../../html.ts'
import { field, onceFields, type Typed } from '../fields.ts'
import { countOf, sizeOf } from '../formats.ts'
import type { PageFrame } from '../site.ts'
import type { Visit } from '../view.ts'
import { words } from '../words.ts'
import { memberMounts, memberView } from './frame.ts'

const text = words.me
const path = '/me/data'

/** What a person uses of each quota, and the copy and the deletion of what is stored of them. */
export function dataMounts(site: PageFrame): Mount[] {
  const page = memberMounts(site, {
    path,
    show,
    async act(visit, form) {
      if (form.get('confirm')?.trim() !== text.confirm_word) {
        const errors = [{ pointer: '/confirm', detail: text.confirm_hint }]
        throw new Failure('invalid_request', text.not_confirmed, { errors })
      }
      await visit.ask('delete_personal_data', { confirm: true })
      return { location: '/?done=erased' }
    },
  })
  const copy = site.page(`${path}.json`, async (visit) => {
    if (!visit.visitor.person) return { location: `/sign-in?then=${path}` }
    return { file: 'dragoman.json', parts: copyOf(visit) }
  })
  return [...page, copy]
}

/** Every row that the registry stores of the visitor, by tables, as the text of a JSON object: a part for each page. */
async function* copyOf({ ask }: Visit): AsyncGenerator<string> {
  let begin = '{'
  for (const table of PersonalTable.options) {
    let text = `${begin}\n  "${table}": [`
    let rowsBefore = 0
    let cursor: string | null | undefined
    while (cursor !== null) {
      const page: PersonalDataPage = await ask('get_personal_data', { table, ...(cursor && { cursor }) })
      const rows = page.rows.map((row, at) => `${rowsBefore + at > 0 ? ',' : ''}\n    ${JSON.stringify(row)}`)
      rowsBefore += rows.length
      cursor = page.next_cursor
      yield text + rows.join('')
      text = ''
    }
    begin = '],'
  }
  yield ']\n}\n'
}

async function show(visit: Visit, typed: Typed) {
  const { accounts } = await visit.ask<Usage>('get_usage', {})
  const content = html`${accounts.map(
    ({ namespace, quotas }) =>
      html`<h2 class="title">${namespace ?? text.usage}</h2><dl class="usage">${quotas.map((quota) => quotaRow(quota))}</dl>`,
  )}
<h2 class="title">${text.export}</h2><p class="hint">${text.export_hint}</p><p><a class="button" href="${path}.json" download>${text.export}</a></p>
<h2 class="title">${text.erase}</h2><p class="hint">${text.erase_hint}</p>
<form method="post" action="${path}">${onceFields(visit)}<div class="fields">${field({ name: 'confirm', label: text.confirm, hint: text.confirm_hint, required: true }, typed)}</div><p><button class="button">${text.erase}</button></p></form>`
  return memberView(visit, path, typed, content)
}

function quotaRow({ quota, meaning, used, limit }: Usage['accounts'][number]['quotas'][number]): Html {
  const [label, hint] = text.quotas[quota as keyof typeof text.quotas] ?? [quota, meaning]
  const shown = quota === 'bytes' ? sizeOf : countOf
  const share = limit === null || limit === 0 ? 0 : Math.min(100, (used * 100) / limit)
  return html`<div><dt>${label}</dt><dd><svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><rect class="track" width="100" height="6"/><rect class="level" width="${share}" height="6"/></svg>${shown(used)}${limit !== null && ` ${text.of} ${shown(limit)}`}${hint !== '' && html`<p class="hint">${hint}</p>`}</dd></div>`
}
