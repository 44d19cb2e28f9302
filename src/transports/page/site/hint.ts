import { actionsInProse } from '../../../../schemas/names.ts'
import { type Html, html } from '../html.ts'
import { words } from './words.ts'

const { me, play } = words

/** The places of this page that do what the actions do which hints name. */
const places: Readonly<Record<string, readonly [path: string, label: string]>> = {
  set_credential: ['/me/connections', me.store],
  get_usage: ['/me/data', me.data],
  list_approvals: ['/me/packages', me.packages],
  list_transfers: ['/me', me.agents],
  list_webhooks: ['/me/webhooks', me.webhooks],
  install_config: ['#use', words.use],
  search_agents: ['/search', words.browse],
  create_session: ['/play', play.title],
}

const named = actionsInProse(Object.keys(places))

/**
 * A hint, in which a place of the page stands for each action that a program would call. `agentPage`: the page of the
 * agent that the hint is about, if it stands on another one.
 */
export function hintText(hint: string, agentPage = ''): Html {
  const parts = hint.split(named).map((part) => {
    const place = places[part]
    if (place === undefined) return part
    const [path, label] = place
    return html`<a href="${path.startsWith('#') ? agentPage : ''}${path}">${label}</a>`
  })
  return html`${parts}`
}
