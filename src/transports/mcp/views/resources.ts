import { Failure } from '../../../../schemas/failure.ts'
import { listedActions } from '../../../../schemas/names.ts'
import type { AgentPage } from '../../../../schemas/search.ts'
import { stringify } from '../../shared/stringify.ts'
import { Fault, faults } from '../protocol-2026/fault.ts'
import type { Exchange } from '../protocol-2026/protocol.ts'
import { type Ask, faultOf, invalidField } from './ask.ts'
import { assertFirstPage, freshness } from './listing.ts'
import type { McpViews } from './view.ts'

/** RFC 6570: the slash of a name is percent-encoded, as in the addresses that are listed. */
export const template = 'agent://{package_name}'

const pageSize = 100
const maxDescriptionLength = 200
const mimeType = 'application/json'

const templates = Object.freeze({
  resourceTemplates: [
    {
      uriTemplate: template,
      name: 'agent',
      title: 'An agent',
      description: 'A listed agent: its entry, capabilities and card, as its publisher wrote them.',
      mimeType,
    },
  ],
})

/** Listed agents as resources: each is the result of the registry's `get_agent` for the caller. */
export function createResources(ask: Ask): McpViews {
  return {
    'resources/list': {
      freshness: { ttlMs: 60_000, cacheScope: 'public' },
      async answer({ cursor }, exchange) {
        if (cursor !== undefined && typeof cursor !== 'string')
          throw invalidField('/cursor', 'This must be a string.')
        const input = { sort: 'name', limit: pageSize, ...(cursor !== undefined && { cursor }) }
        const { agents, next_cursor } = (await ask('search_agents', input, exchange)) as AgentPage
        return { resources: agents.map(resourceOf), ...(next_cursor !== null && { nextCursor: next_cursor }) }
      },
    },
    'resources/templates/list': {
      freshness,
      answer(params) {
        assertFirstPage(params)
        return templates
      },
    },
    'resources/read': {
      freshness: { ttlMs: 60_000, cacheScope: 'private' },
      async answer({ uri }, exchange) {
        if (typeof uri !== 'string') throw invalidField('/uri', 'This must be a string.')
        return { contents: [{ uri, mimeType, text: await read(ask, uri, exchange) }] }
      },
    },
  }
}

function resourceOf({ package_name, name, description, updated_at }: AgentPage['agents'][number]): object {
  return {
    uri: `agent://${encodeURIComponent(package_name)}`,
    name: package_name,
    title: name,
    description: shortened(description),
    mimeType,
    annotations: { lastModified: updated_at },
  }
}

function shortened(text: string): string {
  return text.length <= maxDescriptionLength ? text : `${text.slice(0, maxDescriptionLength).toWellFormed()}…`
}

async function read(ask: Ask, uri: string, exchange: Exchange): Promise<string> {
  const agent = nameIn(uri)
  if (!agent) throw unknown(uri)
  try {
    return stringify(await ask('get_agent', { agent }, exchange))
  } catch (thrown) {
    if (thrown instanceof Failure) throw faultOf(thrown)
    const failure = thrown instanceof Fault ? thrown.failure : undefined
    if (failure?.code === 'not_found') throw unknown(uri, failure.details.nearest)
    throw thrown
  }
}

/** The name in an address, with or without a percent-encoded slash; undefined for other addresses. */
function nameIn(uri: string): string | undefined {
  const [, name] = /^agent:\/\/([^?#]{1,700})$/i.exec(uri) ?? []
  try {
    const decoded = decodeURIComponent(name ?? '').toLowerCase()
    return decoded.length <= 220 ? decoded : undefined
  } catch {
    return undefined
  }
}

/** Results of listed agents link to resources of their own. */
const ofListed = `One of a listed agent is read by call_agent with the action ${listedActions.request} and the params {"method": "resources/read", "params": {"uri": "…"}}.`

/** SEP-2164: -32602, with only the address as data. */
function unknown(uri: string, nearest: readonly string[] = []): Fault {
  const close = nearest.length > 0 ? ` There are ${nearest.join(', ')}.` : ''
  const other = uri.startsWith('agent:') ? close : ` ${ofListed}`
  const shown = uri.length > 300 ? `${uri.slice(0, 300)}…` : uri
  return new Fault(faults.invalidParams, `The resource ${shown} is unknown.${other}`, { data: { uri } })
}
