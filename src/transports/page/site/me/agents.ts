import type { Found } from '../../../../../schemas/card.ts'
import type { SearchOutput } from '../../../../../schemas/search.ts'
import type { TransferPage } from '../../../../../schemas/transfer.ts'
import type { Mount } from '../../../http/app.ts'
import { type Html, html } from '../../html.ts'
import { button } from '../fields.ts'
import { shortened, stateOf } from '../parts.ts'
import type { PageFrame } from '../site.ts'
import type { Visit } from '../view.ts'
import { verificationWords, words } from '../words.ts'
import { memberMounts, memberView } from './frame.ts'

const text = words.me

/** Agents on a page of one's own agents. */
const limit = 100

/** One's own agents, and those that others offer. */
export function agentsMounts(site: PageFrame): Mount[] {
  return memberMounts(site, {
    path: '/me',
    async show(visit, typed) {
      const [stage, active, { offers }] = await Promise.all([
        ownAgents(visit, 'STAGE'),
        ownAgents(visit, 'ACTIVE'),
        visit.ask<TransferPage>('list_transfers', {}),
      ])
      const agents = [...stage, ...active]
      const content = html`
${agents.length === 0 ? html`<p class="lead">${text.no_agents}</p><p><a class="button main" href="/publish">${text.publish}</a></p>` : tableOf(agents)}
${
  offers.length > 0 &&
  html`<h2 class="title">${text.offers}</h2><ul class="rows">${offers.map(
    ({ package_name, description }) =>
      html`<li><div><span class="mono" dir="ltr">${package_name}</span><p class="hint" dir="auto">${shortened(description)}</p></div>${button(visit, { action: '/me', label: text.accept, fields: { agent: package_name } })}</li>`,
  )}</ul>`
}
<p class="hint">${text.signed_in_as} <strong>${visit.visitor.person?.name ?? ''}</strong>. ${text.subject} <code>${visit.visitor.principal?.subject ?? ''}</code>, ${text.issuer} <code>${visit.visitor.principal?.issuer ?? ''}</code></p>${button(visit, { action: '/sign-out', label: text.sign_out })}`
      return memberView(visit, '/me', typed, content)
    },
    async act(visit, form) {
      await visit.ask('accept_transfer', { agent: form.get('agent') ?? '' })
      return { location: '/me?done=accepted' }
    },
  })
}

async function ownAgents({ ask }: Visit, state: 'STAGE' | 'ACTIVE'): Promise<readonly Found[]> {
  const input = { filters: { mine: true, state }, limit, sort: 'name', federation: 'none' }
  return (await ask<SearchOutput>('search_agents', input)).agents
}

function tableOf(agents: readonly Found[]): Html {
  return html`<ul class="rows">${agents.map(
    (agent) =>
      html`<li><div><a href="${managePath(agent.package_name)}"><strong dir="auto">${shortened(agent.name)}</strong></a> <span class="mono" dir="ltr">${agent.package_name}</span><p class="hint">${verificationWords[agent.verification_level]}${agent.version !== null && ` · ${agent.version}`}</p></div><span class="chip">${agent.state === 'STAGE' ? text.stage : stateOf(agent)}</span></li>`,
  )}</ul>`
}

/** The address at which an owner manages an agent. */
export function managePath(packageName: string): string {
  return `/me/agents/${encodeURIComponent(packageName)}`
}
