import type { InstallConfig } from '../../../../schemas/install.ts'
import { html } from '../html.ts'
import { useIt } from './agent/agent.ts'
import type { View } from './view.ts'
import { words } from './words.ts'

/** How a host uses this gateway as a whole. */
export function connect(install: InstallConfig): View {
  const main = html`<div class="plain"><h1>${words.connect}</h1><p class="lead">${words.connect_lead}</p><p></p>${useIt(install)}</div>`
  return { title: words.connect, description: words.connect_lead, main, place: 'connect' }
}
