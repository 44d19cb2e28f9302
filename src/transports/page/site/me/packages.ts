import type {
  Approval,
  ApprovalList,
  ApprovalReport,
  ApprovedPackage,
} from '../../../../../schemas/approval.ts'
import type { JsonObject } from '../../../../../schemas/json.ts'
import { quotedName } from '../../../../../schemas/text.ts'
import { assignments, asWord } from '../../../../common/ascii.ts'
import type { Mount } from '../../../http/app.ts'
import { type Html, html } from '../../html.ts'
import { button, field, onceFields, type Typed, time } from '../fields.ts'
import { pageOf, readFirst } from '../parts.ts'
import type { PageFrame } from '../site.ts'
import { queryOf, type Visit } from '../view.ts'
import { words } from '../words.ts'
import { filled, listed, memberMounts, memberView } from './frame.ts'

const text = words.me
const path = '/me/packages'
const perPage = 20

/** The packages that the operator lets this gateway run. */
export function packagesMounts(site: PageFrame): Mount[] {
  return memberMounts(site, {
    path,
    show: (visit, typed) => show(visit, typed),
    async act(visit, form) {
      const agent = form.get('agent')?.trim() ?? ''
      if (form.get('do') === 'revoke') {
        await visit.operate('revoke_approval', { agent })
        return { location: `${path}?done=revoke` }
      }
      const isDryRun = form.get('do') !== 'approve'
      const report = await visit.operate<ApprovalReport>('approve_package', {
        agent,
        dry_run: isDryRun,
        ...filled(form, ['version', 'integrity']),
        hosts: listed(form.get('hosts')),
        variables: { ...variablesIn(form), ...valuesIn(form, 'environment') },
        arguments: valuesIn(form, 'argument'),
        scripts: form.has('scripts'),
      })
      return show(visit, { values: form }, report, isDryRun)
    },
  })
}

/** Lines of the form `NAME=VALUE`. */
function variablesIn(form: URLSearchParams): JsonObject {
  const lines = (form.get('variables') ?? '').split('\n').map((line) => line.trim())
  const pairs = lines.filter(Boolean).map((line) => {
    const [name = '', ...value] = line.split('=')
    return [name.trim(), value.join('=').trim()] as const
  })
  return Object.fromEntries(pairs)
}

type Part = ApprovedPackage['values'][number]['part']

/** The values that the form of a report asks for. */
function valuesIn(form: URLSearchParams, part: Part): JsonObject {
  const prefix = valueField({ part, name: '' })
  const typed = [...form].filter(([name, value]) => name.startsWith(prefix) && value !== '')
  return Object.fromEntries(typed.map(([name, value]) => [name.slice(prefix.length), value]))
}

function valueField({ part, name }: { readonly part: Part; readonly name: string }): string {
  return `${part}.${name}`
}

async function show(visit: Visit, typed: Typed, report?: ApprovalReport, isDryRun = false) {
  if (!visit.visitor.operator) {
    const content = html`<p class="lead">${text.operator_only}</p><pre tabindex="0">dragoman login
dragoman allow PACKAGE</pre>`
    return memberView(visit, path, typed, content)
  }
  const query = queryOf(visit.request)
  const cursor = query.get('cursor')
  const range = { limit: perPage, ...(cursor && { cursor }) }
  const { approvals, next_cursor } = await visit.operate<ApprovalList>('list_approvals', range)
  const requested = query.get('agent') ?? ''
  const content = html`<p class="lead">${text.packages_lead}</p>
${approvals.length > 0 && html`<ul class="rows">${approvals.map((approval) => row(visit, approval))}</ul>`}
${(cursor || next_cursor !== null) && html`<p class="pages">${cursor && html`<a class="button" href="${path}">${words.first}</a> `}${next_cursor !== null && html`<a class="button" rel="next" href="${path}?cursor=${encodeURIComponent(next_cursor)}">${words.next}</a>`}</p>`}
${report && reportOf(visit, typed, report, isDryRun)}
<h2 class="title">${text.approve}</h2>
<form method="post" action="${path}">${onceFields(visit, { do: 'look' })}<div class="fields">
${field({ name: 'agent', label: text.package_name, value: requested, required: true }, typed)}
${field({ name: 'version', label: words.version, hint: text.package_version_hint }, typed)}
${field({ name: 'hosts', label: text.hosts, hint: text.hosts_hint }, typed)}
${field({ name: 'variables', label: text.variables, hint: text.variables_hint, rows: 3 }, typed)}
</div><p><button class="button main">${text.look}</button></p></form>`
  return memberView(visit, path, typed, content)
}

/** What would be approved, with the button that approves just that. */
function reportOf(visit: Visit, { values }: Typed, report: ApprovalReport, isDryRun: boolean): Html {
  const { agent, publisher, package: found, sandbox, warnings, missing, tools, problem } = report
  const facts = [
    [text.package_name, `${found.registry_type} ${found.identifier} ${found.version}`],
    [text.digest, found.integrity],
    [text.arguments, found.arguments.map(asWord).join(' ')],
    [text.set_variables, assignments(found.variables)],
    [text.variables, found.values.map(shownValue).join(', ')],
    [text.publisher, publisher ?? text.nobody],
    [text.sandbox, `${sandbox.kind}: ${sandbox.limited.join(', ')}`],
    [text.not_limited, sandbox.not_limited.join(', ')],
    [text.hosts, found.hosts.join(', ') || text.no_network],
    [text.missing, missing.map(quotedName).join(', ')],
  ] as const
  const typedFields = ['version', 'hosts', 'variables'].map((name) => [name, values.get(name) ?? ''] as const)
  return html`<section class="card"${readFirst}><h2>${isDryRun ? text.would_run : text.approved}</h2>
<dl class="facts">${facts.filter(([, value]) => value !== '').map(([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`)}</dl>
${warnings.map((warning) => html`<p class="note">${warning}</p>`)}
${problem !== null && html`<p class="note bad">${problem}</p>`}
${tools && html`<p>${words.capabilities(tools.length)}: ${tools.map(({ name }) => quotedName(name)).join(', ')}</p><p><a class="button" href="${pageOf(agent)}">${text.public_page}</a></p>`}
${isDryRun && html`<form method="post" action="${path}">${onceFields(visit, { do: 'approve', agent, integrity: found.integrity, ...Object.fromEntries(typedFields) })}${missingFields(report)}<p><button class="button main">${text.approve_now}</button></p></form>`}</section>`
}

/** What the package requires and nobody has given yet. Callers may store secrets of their own instead. */
function missingFields({ package: { values }, missing }: ApprovalReport): Html | false {
  const open = values.filter(({ name, required }) => required && missing.includes(name))
  return (
    open.length > 0 &&
    html`<div class="fields">${open.map(({ name, part, secret }) =>
      field(
        {
          name: valueField({ part, name }),
          label: quotedName(name),
          pointer: `/${part === 'argument' ? 'arguments' : 'variables'}/${name}`,
          required: !secret,
          ...(secret && { type: 'password', hint: text.secret_hint, autocomplete: 'new-password' }),
        },
        { values: new URLSearchParams() },
      ),
    )}</div>`
  )
}

function shownValue({ name, secret, value }: ApprovedPackage['values'][number]): string {
  return secret || value === null ? quotedName(name) : `${quotedName(name)}=${asWord(value)}`
}

function row(visit: Visit, { agent, package: approved, callers, approved_at, difference }: Approval): Html {
  return html`<li><div><a class="mono" dir="ltr" href="${pageOf(agent)}">${agent}</a><p class="hint">${approved.registry_type} ${approved.identifier} ${approved.version} · ${approved.hosts.join(', ') || text.no_network} · ${time(approved_at)}${callers === 'own' && html` · ${text.for_you}`}</p>${difference !== null && html`<p class="hint">${difference}</p>`}</div>${button(visit, { action: path, label: text.revoke, of: agent, fields: { do: 'revoke', agent } })}</li>`
}
