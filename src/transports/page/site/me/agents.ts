import type { SearchHit } from '../../../../../schemas/card.ts'
import type { Entry } from '../../../../../schemas/entry.ts'
import type { AgentPage } from '../../../../../schemas/search.ts'
import type { TransferPage } from '../../../../../schemas/transfer.ts'
import type { Mount } from '../../../http/app.ts'
import { type Html, html } from '../../html.ts'
import { button } from '../fields.ts'
import { shortened, stateOf } from '../parts.ts'
import type { PageFrame } from '../site.ts'
import { queryOf, type Visit } from '../view.ts'
import { verificationWords, words } from '../words.ts'
import { memberMounts, memberView } from './frame.ts'

const text = words.me

/** Agents on a page of one's own agents. */
const limit = 100
const states = ['STAGE', 'ACTIVE'] as const

/** One's own agents, and those that others offer. */
export function agentsMounts(site: PageFrame): Mount[] {
  return memberMounts(site, {
    path: '/me',
    async show(visit, typed) {
      const query = queryOf(visit.request)
      // Of more agents than a page shows, the next ones in one state are a page of their own.
      const state = states.find((each) => query.has(each))
      const [pages, { offers }] = await Promise.all([
        Promise.all(
          states.filter((each) => !state || each === state).map((each) => ownAgents(visit, each, query)),
        ),
        visit.ask<TransferPage>('list_transfers', {}),
      ])
      const agents = pages.flatMap((page) => page.agents)
      const more = pages.filter(({ next_cursor }) => next_cursor !== null)
      const content = html`
${agents.length === 0 ? html`<p class="lead">${text.no_agents}</p><p><a class="button main" href="/publish">${text.publish}</a></p>` : tableOf(agents)}
${(state || more.length > 0) && html`<p class="chips">${state && html`<a class="button" href="/me">${words.first}</a>`}${more.map((page) => html`<a class="button" href="/me?${page.state}=${encodeURIComponent(page.next_cursor ?? '')}">${text.more_of[page.state]}</a>`)}</p>`}
${
  offers.length > 0 &&
  html`<h2 class="title">${text.offers}</h2><ul class="rows">${offers.map(
    ({ package_name, description }) =>
      html`<li><div><span class="mono" dir="ltr">${package_name}</span><p class="hint" dir="auto">${shortened(description)}</p></div>${button(visit, { action: '/me', label: text.accept, of: package_name, fields: { agent: package_name } })}</li>`,
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

async function ownAgents({ ask }: Visit, state: (typeof states)[number], query: URLSearchParams) {
  const cursor = query.get(state)
  const input = { filters: { mine: true, state }, limit, sort: 'name', federation: 'none' }
  return { state, ...(await ask<AgentPage>('search_agents', { ...input, ...(cursor && { cursor }) })) }
}

function tableOf(agents: readonly SearchHit[]): Html {
  return html`<ul class="rows">${agents.map(
    (agent) =>
      html`<li><div><a href="${managePath(agent.package_name)}"><strong dir="auto">${shortened(agent.name)}</strong></a> <span class="mono" dir="ltr">${agent.package_name}</span><p class="hint">${verificationWords[agent.verification_level]}${agent.version !== null && ` · ${agent.version}`}</p></div><span class="chip">${agent.state === 'STAGE' ? text.stage : stateOf(agent)}</span></li>`,
  )}</ul>`
}

/** True for an agent that the visitor may change: only they see the subject of its owner. */
export function isOwn({ owner }: Pick<Entry, 'owner'>): boolean {
  return owner?.subject !== undefined
}

/** The address at which an owner manages an agent. */
export function managePath(packageName: string): string {
  return `/me/agents/${encodeURIComponent(packageName)}`
}
