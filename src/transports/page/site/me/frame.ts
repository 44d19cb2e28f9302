import { codes, Failure } from '../../../../../schemas/failure.ts'
import type { Mount } from '../../../http/app.ts'
import { type Html, html } from '../../html.ts'
import { problem, type Typed } from '../fields.ts'
import { readFirst } from '../parts.ts'
import type { Act, PageFrame, Render } from '../site.ts'
import { queryOf, type View, type Visit } from '../view.ts'
import { words } from '../words.ts'

const text = words.me

/** The pages of one's own, by their paths. */
const places = {
  '/me': text.agents,
  '/publish': text.publish,
  '/me/keys': text.keys,
  '/me/webhooks': text.webhooks,
  '/me/connections': text.connections,
  '/me/packages': text.packages,
  '/me/registry': text.whole_registry,
  '/me/data': text.data,
} as const

type MemberPath = keyof typeof places

/** The frame of a page of one's own: where one is, what was done, what was refused. */
export function memberView(
  visit: Visit,
  path: MemberPath,
  typed: Typed,
  content: Html,
  title?: string,
): View {
  const name = title ?? places[path]
  const done = queryOf(visit.request).get('done')
  const notice = Object.entries(text.done).find(([name]) => name === done)?.[1]
  const main = html`<div class="mine">
<nav class="rail" aria-label="${text.title}"><ul>${Object.entries(places).map(([address, label]) => html`<li><a href="${address}"${address === path && html` aria-current="page"`}>${label}</a></li>`)}</ul></nav>
<div><h1 dir="auto">${name}</h1>
${notice !== undefined && html`<p class="note" role="status"${readFirst}>${notice}</p>`}${problem(typed)}
${content}</div></div>`
  return {
    title: typed.failure ? `${words.wrong}: ${name}` : name,
    main,
    place: path === '/publish' ? 'publish' : 'account',
    ...(typed.failure && { status: codes[typed.failure.code].http }),
  }
}

interface MemberPage {
  readonly path: string
  show(visit: Visit, typed: Typed): Promise<View>
  /** Does what the form asks for. A Failure shows the page again, with what was typed. */
  act?: Act
}

/** A page for people who are signed in; everybody else signs in first, and comes back. */
export function memberMounts(site: PageFrame, { path, show, act }: MemberPage): Mount[] {
  const render: Render = async (visit) =>
    visit.visitor.person ? show(visit, { values: new URLSearchParams() }) : signInFirst(visit)
  const page = site.page(path, render)
  if (!act) return [page]
  const form = site.form(path, async (visit, values) => {
    if (!visit.visitor.person) return signInFirst(visit)
    try {
      return await act(visit, values)
    } catch (thrown) {
      if (!(thrown instanceof Failure) || thrown.code === 'internal') throw thrown
      return show(visit, { values, failure: thrown })
    }
  })
  return [page, form]
}

function signInFirst({ request }: Visit): { location: string } {
  return { location: `/sign-in?then=${encodeURIComponent(request.url ?? '/me')}` }
}

/** Fields of a form that were filled in, under the names of the action. */
export function filled(form: URLSearchParams, names: readonly string[]): Record<string, string> {
  const pairs = names.map((name) => [name, form.get(name)?.trim() ?? ''] as const)
  return Object.fromEntries(pairs.filter(([, value]) => value !== ''))
}

/** Texts that were typed with commas, spaces or line breaks between them. */
export function listed(value: string | null): string[] {
  return (value ?? '').split(/[\s,]+/).filter(Boolean)
}

/** JSON that was typed. Throws Failure `invalid_request` at the field. */
export function parsed(form: URLSearchParams, name: string): unknown {
  try {
    return JSON.parse(form.get(name) ?? '')
  } catch (fault) {
    const detail = fault instanceof Error ? fault.message : String(fault)
    throw new Failure('invalid_request', text.no_json, { errors: [{ pointer: `/${name}`, detail }] })
  }
}
