import { Failure } from '../../../../schemas/failure.ts'
import type { InstallConfig } from '../../../../schemas/install.ts'
import type { JsonObject } from '../../../../schemas/json.ts'
import { registryName as registry } from '../../../../schemas/names.ts'
import type { AgentPage } from '../../../../schemas/search.ts'
import type { Mount } from '../../http/app.ts'
import type { ReadRequest } from '../../http/input.ts'
import { prefersHtml } from '../../http/prefers-html.ts'
import { readQuery } from '../../http/query.ts'
import type { Handler } from '../../http/rest.ts'
import { routes } from '../../http/routes.ts'
import type { TransportContext } from '../../shared/transport-context.ts'
import { html } from '../html.ts'
import { useIt } from './agent/agent.ts'
import { callMounts } from './agent/call.ts'
import { agentMounts } from './agent/mounts.ts'
import { readmeMounts } from './agent/readme.ts'
import { type AssetFiles, openAssets } from './assets.ts'
import { agentChangesPage, changesPage, readAgentChanges, readChanges } from './changes.ts'
import { docMounts } from './docs/mounts.ts'
import { feedMounts } from './feeds.ts'
import { home } from './home.ts'
import { agentsMounts } from './me/agents.ts'
import { connectionsMounts } from './me/connections.ts'
import { dataMounts } from './me/data.ts'
import { keysMounts } from './me/keys.ts'
import { manageMounts } from './me/manage.ts'
import { packagesMounts } from './me/packages.ts'
import { publishMounts } from './me/publish.ts'
import { registryMounts } from './me/registry.ts'
import { verifyMounts } from './me/verify.ts'
import { webhooksMounts } from './me/webhooks.ts'
import { playMounts } from './play.ts'
import { maxNearby, results } from './results.ts'
import { openSite, type PageFrame } from './site.ts'
import { statusView } from './status.ts'
import { queryOf, type View } from './view.ts'
import type { VisitorPort } from './visitor.ts'
import { words } from './words.ts'

interface SiteFiles extends AssetFiles {
  /** The folder of the guides. */
  readonly docs: URL
  readonly version: string
  /** The entry of the thread that renders READMEs. */
  readonly readmeWorker: URL
}

/** The page of an agent by a name whose slash is written as it is. */
const namedPlainly = /^\/agent\/([^/]+)\/([^/]+)$/

/**
 * The pages for people: views of the actions that every transport has. `index` answers `/` to programs; `missing` is the
 * page of a path that nothing has.
 */
export function siteMounts(
  context: TransportContext,
  visitors: VisitorPort,
  files: SiteFiles,
  index: Mount,
): { mounts: Mount[]; missing: Handler } {
  const { paths, mount } = openAssets(context, files)
  const site = openSite(context, visitors, paths)
  const { page } = site

  const missing = page('', async ({ request }) => {
    const { pathname } = new URL(request.url ?? '', 'http://page')
    const [, namespace, name] = namedPlainly.exec(pathname) ?? []
    if (namespace !== undefined) return { location: `/agent/${namespace}%2F${name}` }
    throw new Failure('not_found', `There is no page at ${pathname}.`)
  })

  const front = page('/', async ({ request, ask }) => {
    const search = queryOf(request)
    if (search.has('q')) return { location: `/search?${search}` }
    const found = await ask<AgentPage>('search_agents', { limit: 1, facets: true, federation: 'none' })
    return home(found, context.site().base_url)
  })

  const mounts: Mount[] = [
    {
      ...index,
      handler: (request, response) =>
        prefersHtml(request.headers.accept)
          ? front.handler(request, response)
          : index.handler(request, response),
    },
    page('/search', async ({ request, ask }) => {
      const search = searchOf(request)
      const params = readQuery(String(search), fields, searchInput(context))
      const searchHere = (input: object) =>
        ask<AgentPage>('search_agents', { federation: 'none', ...input } as JsonObject)
      const found = await searchHere({ limit: 20, facets: true, facet_choices: true, ...params })
      const query = search.get('q')
      if (found.total > 0 || query === null) return results(found, search)
      const [listed, nearby] = await Promise.all([
        searchHere({ limit: 1 }),
        search.size > 1 ? searchHere({ query, limit: maxNearby }) : undefined,
      ])
      return results(found, search, { listed: listed.total, nearby })
    }),
    ...agentMounts(context, site),
    ...readmeMounts(site, files.readmeWorker),
    page('/changes', async ({ request, ask }) => {
      const agent = searchOf(request).get('agent')
      if (agent !== null) return agentChangesPage(await readAgentChanges(ask, agent))
      const upTo = searchOf(request).get('up_to')
      const revision = upTo === null ? undefined : readNumber('up_to', upTo)
      return changesPage(await readChanges(ask, revision), upTo !== null)
    }),
    page('/connect', async ({ ask }) => {
      const params = { agent: registry, target: 'gateway' }
      return connect(await ask('install_config', params))
    }),
    ...callMounts(site),
    ...meMounts(site),
    page('/status', async ({ operate }) => statusView(await operate('get_status', {}))),
    ...playMounts(site),
    ...docMounts(context, site, files),
    ...feedMounts(context, paths),
    mount,
  ]
  return { mounts, missing: missing.handler }
}

/** Throws Failure `invalid_request`. */
function readNumber(name: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new Failure('invalid_request', `\`${name}\` must be a whole number.`)
}

/** The parameters of an address, without the empty ones that a form sends. */
function searchOf(request: ReadRequest): URLSearchParams {
  return new URLSearchParams([...queryOf(request)].filter(([, value]) => value !== ''))
}

/** The parameters of a search, as over REST. */
const { query: fields = {} } = routes.find(({ id }) => id === 'searchAgents') ?? {}

function searchInput({ agents }: Pick<TransportContext, 'agents'>) {
  const { actions = [] } = agents.find(({ package_name }) => package_name === registry) ?? {}
  return actions.find(({ name }) => name === 'search_agents')?.input.json ?? {}
}

/** How a host uses this gateway as a whole. */
function connect(install: InstallConfig): View {
  const main = html`<div class="plain"><h1>${words.connect}</h1><p class="lead">${words.connect_lead}</p><p></p>${useIt(install)}</div>`
  return { title: words.connect, description: words.connect_lead, main, place: 'connect' }
}

/** The pages of one's own. */
function meMounts(site: PageFrame): Mount[] {
  return [
    ...agentsMounts(site),
    ...manageMounts(site),
    ...publishMounts(site),
    ...verifyMounts(site),
    ...keysMounts(site),
    ...webhooksMounts(site),
    ...connectionsMounts(site),
    ...packagesMounts(site),
    ...registryMounts(site),
    ...dataMounts(site),
  ]
}
