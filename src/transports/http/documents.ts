import type { Agent } from '../../../schemas/action.ts'
import { Failure } from '../../../schemas/failure.ts'
import { nearest } from '../../../schemas/nearest.ts'
import type { Site } from '../../../schemas/site.ts'
import type { TransportContext } from '../shared/transport-context.ts'
import type { Mount } from './app.ts'
import { catalogLink, documentMount } from './document.ts'
import { openApi } from './openapi/document.ts'
import { partOf } from './openapi/part.ts'
import { readQuery } from './query.ts'
import { errorsPath, send } from './respond.ts'
import { type RouteTag, tags } from './route.ts'
import { routes } from './routes.ts'

interface Documented extends Pick<TransportContext, 'limits' | 'trusted_proxies'> {
  readonly agents: readonly Agent[]
  readonly site: () => Site
  /** The proof of the gateway's own domain; null if it has none. */
  readonly challenge: () => Promise<string | null>
}

/** The documents `/llms.txt` and `/openapi.json`, and the proof of the gateway's own domain. */
export function documents(context: Documented, version: string): Mount[] {
  const { agents, challenge } = context
  const proof: Mount = {
    method: 'get',
    path: '/.well-known/dragoman-challenge',
    async handler(request, response) {
      const text = await challenge()
      const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' }
      send(
        request,
        response,
        text === null ? 404 : 200,
        text ?? 'DRAGOMAN_BASE_URL does not name a domain.\n',
        headers,
      )
    },
  }
  return [
    proof,
    documentMount(context, {
      path: '/llms.txt',
      type: 'text/plain; charset=utf-8',
      render: ({ base_url }) => llms(agents, base_url),
      link: catalogLink,
    }),
    documentMount(context, {
      path: '/openapi.json',
      type: 'application/json',
      part: chosenTags,
      render({ base_url }, chosen) {
        const document = openApi(agents, version, base_url)
        return JSON.stringify(chosen === '' ? document : partOf(document, chosen.split(',') as RouteTag[]))
      },
      link: catalogLink,
    }),
  ]
}

const tagNames = Object.keys(tags) as RouteTag[]

/** The names of `tags` in a query, in their order, with commas; empty for the whole document. */
function chosenTags(query: string): string {
  const { tags: names } = readQuery(query, { tags: 'tags' }, { properties: { tags: { type: 'array' } } })
  if (names === undefined) return ''
  const chosen = new Set(
    (names as string[]).map((name) => {
      const tag = tagNames.find((candidate) => candidate.toLowerCase() === name.toLowerCase())
      if (tag) return tag
      throw new Failure('invalid_request', `There is no tag ${name}.`, {
        errors: [{ pointer: '/tags', detail: `Give some of ${tagNames.join(', ')}.` }],
        nearest: nearest(name, tagNames),
      })
    }),
  )
  return tagNames.filter((tag) => chosen.has(tag)).join(',')
}

/** `/` for programs: the addresses of everything else. */
export function indexMount(
  context: Pick<Documented, 'limits' | 'trusted_proxies' | 'site'>,
  version: string,
): Mount {
  const render = (here: Site) => JSON.stringify(index(version, here), null, 2)
  return documentMount(context, {
    path: '/',
    type: 'application/json',
    render,
    vary: 'Accept',
    link: catalogLink,
  })
}

function index(version: string, { base_url, site_url }: Site): unknown {
  return {
    name: 'Dragoman',
    version,
    description: 'A registry of software agents that speaks every protocol agents speak.',
    card: `${site_url}/.well-known/agent-card.json`,
    openapi: `${base_url}/openapi.json`,
    guide: `${base_url}/llms.txt`,
    transports: {
      rest: `${base_url}/public/agents`,
      envelope: `${base_url}/a2a/message`,
      envelope_websocket: `${base_url.replace(/^http/, 'ws')}/a2a/message`,
      a2a: `${base_url}/a2a/v1`,
      json_rpc: `${base_url}/rpc`,
      json_rpc_websocket: `${base_url.replace(/^http/, 'ws')}/rpc`,
      mcp: `${base_url}/mcp`,
      mcp_websocket: `${base_url.replace(/^http/, 'ws')}/mcp/ws`,
      ard: `${base_url}/ard`,
      mcp_registry: `${base_url}/v0.1/servers`,
    },
  }
}

/** The fields of an answer that a reader needs first. */
const searchAnswer = {
  agents: [
    { package_name: 'com.example.weather', description: 'Weather forecasts.', callable: 'open', score: 0.83 },
  ],
  total: 1,
  next_cursor: null,
}

function llms(agents: readonly Agent[], base: string): string {
  const hosted = agents.flatMap((agent) =>
    agent.actions
      .filter((action) => action.advertised)
      .map((action) => `- ${agent.package_name} ${action.name}: ${action.description}`),
  )
  return `# Dragoman

> A registry of software agents. Search by intent, read the card, call the agent by its package name.

Search: POST ${base}/a2a/message {"to":"custom.svc.registry","action":"search","params":{"query":"what you need","limit":5}}
Resolve: POST ${base}/a2a/message {"to":"custom.svc.registry","action":"resolve_package","params":{"agent":"…"}}
Call: POST ${base}/a2a/message {"to":"PACKAGE","action":"ACTION","params":{…}} (most calls need Authorization: Bearer TOKEN)
MCP: ${base}/mcp (Streamable HTTP) and ${base.replace(/^http/, 'ws')}/mcp/ws (WebSocket, subprotocol mcp)
A2A 1.0: ${base}/a2a/v1 (JSON-RPC and HTTP+JSON, tasks and streams; 0.3 over JSON-RPC; card at ${base}/a2a/v1/.well-known/agent-card.json)
ARD 0.91: POST ${base}/ard/search {"query":{"text":"what you need"}}, catalog at ${base}/.well-known/ard.json
API of the MCP registry: GET ${base}/v0.1/servers?search=what+you+need&version=latest
JSON-RPC 2.0: POST ${base}/rpc, methods registry.search_agents, message.send …

## Rules of the REST interface

Authentication: Authorization: Bearer TOKEN. Searches and reads of public agents need none. POST ${base}/oauth/token turns an API key into a token; ${base}/.well-known/oauth-protected-resource names the authorization server.
Errors: application/problem+json with code, detail, errors [{pointer, detail}], hint, nearest. ${base}${errorsPath} explains each code. 429 has Retry-After.
Pages: limit, and cursor with the next_cursor of the page before; null ends the list.
Answer of GET ${base}/public/agents?q=weather&limit=1: ${JSON.stringify(searchAnswer)}
OpenAPI: ${base}/openapi.json, whole; a part of it by ?tags=Search,Cards,Calling,Publishing

## Hosted agents

${hosted.join('\n')}

## REST

${routes.map((route) => `- ${route.method.toUpperCase()} ${route.path}: ${route.summary}`).join('\n')}
`
}
