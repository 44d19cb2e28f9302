import type { InstallNeed } from '../../../schemas/install.ts'
import { promptsOf } from './host-lines.ts'
import type { HostLaunch } from './launch.ts'
import { firstVariable, type Server } from './server-forms.ts'
import { literalOf } from './template.ts'

export interface Links {
  readonly link: string
  readonly web_link?: string
}

/** What a host is given: a server under a name, and what its user has to give. */
export interface Install {
  readonly name: string
  readonly title: string
  readonly launch: HostLaunch
  readonly needs: readonly InstallNeed[]
}

/** VS Code asks for the values of the prompts after the click. */
export function vscodeLinks(scheme: string, { name, needs }: Install, server: Server): Links {
  const prompts = promptsOf(needs)
  const web = new URL('https://insiders.vscode.dev/redirect/mcp/install')
  const quality = scheme === 'vscode-insiders' ? '&quality=insiders' : ''
  const inputs = prompts.inputs ? `&inputs=${encodeURIComponent(JSON.stringify(prompts.inputs))}` : ''
  const config = encodeURIComponent(JSON.stringify(server))
  return {
    link: `${scheme}:mcp/install?${encodeURIComponent(JSON.stringify({ name, ...server, ...prompts }))}`,
    web_link: `${web.href}?name=${name}${inputs}&config=${config}${quality}`,
  }
}

export function cursorLinks({ name }: Install, server: Server): Links {
  const query = `name=${name}&config=${encodeURIComponent(base64(server))}`
  return {
    link: `cursor://anysphere.cursor-deeplink/mcp/install?${query}`,
    web_link: `https://cursor.com/en/install-mcp?${query}`,
  }
}

export function lmStudioLinks({ name }: Install, server: Server): Links {
  const query = `name=${name}&config=${encodeURIComponent(base64(server))}`
  return { link: `lmstudio://add_mcp?${query}`, web_link: `https://lmstudio.ai/install-mcp?${query}` }
}

/** The commands that a link of Goose may start. */
const gooseCommands = new Set(['npx', 'uvx', 'docker'])

/** Goose asks for the variables of a link, which cannot hold other values of the user. */
export function gooseLinks({ name, title, launch }: Install): Links | undefined {
  const query: [string, string][] = []
  if (launch.kind === 'bundle') return undefined
  if (launch.kind === 'stdio') {
    const args = launch.args.map(literalOf)
    const isAsked = launch.env.every(
      (entry) => entry.value.length === 1 && firstVariable(entry.value) === entry.name,
    )
    if (!gooseCommands.has(launch.command) || args.includes(undefined) || !isAsked) return undefined
    query.push(['cmd', launch.command], ...args.map((text): [string, string] => ['arg', text ?? '']))
    query.push(
      ...launch.env.map(({ name, value }): [string, string] => ['env', `${name}=${descriptionOf(value)}`]),
    )
  } else {
    const url = literalOf(launch.url)
    if (url === undefined || launch.headers.length > 0) return undefined
    query.push(['type', 'streamable_http'], ['url', url])
  }
  query.push(['id', name], ['name', title], ['description', title])
  return {
    link: `goose://extension?${query.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join('&')}`,
  }
}

function descriptionOf([piece]: readonly (string | InstallNeed)[]): string {
  return typeof piece === 'object' ? (piece.description || piece.name).replace(/\s+/g, ' ').slice(0, 200) : ''
}

function base64(server: Server): string {
  return Buffer.from(JSON.stringify(server)).toString('base64')
}
