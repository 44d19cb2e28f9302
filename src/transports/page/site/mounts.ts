import type { ServerResponse } from 'node:http'
import type { EntryDetail } from '../../../../schemas/card.ts'
import { codes, Failure } from '../../../../schemas/failure.ts'
import type { InstallConfig } from '../../../../schemas/install.ts'
import type { JsonObject } from '../../../../schemas/json.ts'
import { registryName as registry } from '../../../../schemas/names.ts'
import type { SearchOutput } from '../../../../schemas/search.ts'
import { costs } from '../../../router/limiter.ts'
import type { Mount } from '../../http/app.ts'
import { overCost } from '../../http/caller.ts'
import { sendCoded } from '../../http/coded.ts'
import type { ReadRequest } from '../../http/input.ts'
import { readQuery } from '../../http/query.ts'
import { requestId } from '../../http/request-id.ts'
import { failureHeaders } from '../../http/respond.ts'
import { signalOf } from '../../http/rest.ts'
import { routes } from '../../http/routes.ts'
import { clientOf } from '../../shared/client-address.ts'
import { failureOf, type TransportContext } from '../../shared/transport-context.ts'
import { agentPage } from './agent.ts'
import { type AssetFiles, openAssets } from './assets.ts'
import { connect } from './connect.ts'
import { failurePage } from './failure.ts'
import { home } from './home.ts'
import { results } from './results.ts'

/** Scripts, styles and pictures come from here alone, and nobody may put a page in a frame. */
const securityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types page',
].join('; ')

/** Runs an action of the registry as a caller without a token. */
type Ask = <Output>(action: string, params: JsonObject) => Promise<Output>

type Render = (request: ReadRequest, ask: Ask) => Promise<string>

/** The pages for people: views of the actions that every transport has. `index` answers `/` to programs. */
export function siteMounts(context: TransportContext, files: AssetFiles, index: Mount): Mount[] {
  const { paths, mount } = openAssets(context, files)
  const page = (path: string, render: Render): Mount => ({
    method: 'get',
    path,
    handler: (request, response) => serve(request, response, render),
  })

  async function serve(request: ReadRequest, response: ServerResponse, render: Render): Promise<void> {
    const client = clientOf(context, request)
    const charge = (bytes: number) =>
      context.limits.charge({ principal: null, client }, bytes * costs.compressedByte)
    const id = requestId(request)
    const signal = signalOf(response)
    const ask: Ask = async <Output>(action: string, params: JsonObject) => {
      const call = { principal: null, signal, id, client }
      const { output } = await context.dispatch({ to: registry, action, params }, call)
      return output as Output
    }
    try {
      const refused = overCost(context, request)
      if (refused) throw refused
      const text = await render(request, ask)
      const headers = { ...fixed, 'Cache-Control': 'public, max-age=60', 'X-Request-Id': id, Vary: 'Accept' }
      await sendCoded(request, response, 200, text, headers, charge)
    } catch (thrown) {
      const failure = failureOf(context, thrown)
      const headers = { ...failureHeaders(context, request, failure, id), ...fixed, Vary: 'Accept' }
      const text = failurePage(failure, paths)
      await sendCoded(request, response, codes[failure.code].http, text, headers, charge)
    }
  }

  const front = page('/', async (_, ask) => {
    const found = await ask<SearchOutput>('search_agents', { limit: 1, facets: true, federation: 'none' })
    return home(found, context.site().base_url, paths)
  })

  return [
    {
      ...index,
      handler: (request, response) =>
        prefersHtml(request.headers.accept)
          ? front.handler(request, response)
          : index.handler(request, response),
    },
    page('/search', async (request, ask) => {
      const search = searchOf(request)
      const params = readQuery(String(search), fields, searchInput(context))
      const limits = { limit: 20, facets: true, federation: 'none' }
      return results(await ask('search_agents', { ...limits, ...params } as JsonObject), search, paths)
    }),
    page('/agent/:agent', async ({ params }, ask) => {
      const agent = String(params.agent)
      const entry = await ask<EntryDetail>('get_agent', { agent })
      const install = await ask<InstallConfig>('install_config', { agent }).catch(unlessNotInstallable)
      return agentPage(entry, install, paths)
    }),
    page('/connect', async (_, ask) => {
      const params = { agent: registry, target: 'gateway' }
      return connect(await ask('install_config', params), paths)
    }),
    mount,
  ]
}

const fixed = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': securityPolicy,
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
}

/** The parameters of an address, without the empty ones that a form sends. */
function searchOf({ url = '' }: ReadRequest): URLSearchParams {
  const { searchParams } = new URL(url, 'http://page')
  return new URLSearchParams([...searchParams].filter(([, value]) => value !== ''))
}

/** The parameters of a search, as over REST. */
const { query: fields = {} } = routes.find(({ id }) => id === 'searchAgents') ?? {}

function searchInput({ agents }: Pick<TransportContext, 'agents'>) {
  const { actions = [] } = agents.find(({ package_name }) => package_name === registry) ?? {}
  return actions.find(({ name }) => name === 'search_agents')?.input.json ?? {}
}

/** What has no configuration is shown without one. */
function unlessNotInstallable(thrown: unknown): undefined {
  if (thrown instanceof Failure && thrown.code === 'not_installable') return undefined
  throw thrown
}

/** True if the client states HTML before, or as much as, JSON (RFC 9110 section 12.5.1). A program states neither. */
function prefersHtml(accept = ''): boolean {
  const weight = (type: string) => {
    const range = accept.split(',').find((part) => part.trim().startsWith(type))
    return range === undefined ? 0 : Number(/;\s*q=([\d.]+)/.exec(range)?.[1] ?? 1)
  }
  return weight('text/html') > 0 && weight('text/html') >= weight('application/json')
}
