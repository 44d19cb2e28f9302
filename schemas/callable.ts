import { z } from 'zod'
import type { Endpoint } from './entry-parts.ts'
import { filledIn } from './package.ts'

/**
 * Whether an agent can be called through the gateway. `hosted`: the gateway runs it. `open`: it answers without a
 * credential. `needs_key`, `needs_sign_in`: it asks for a credential. `package`: it can be installed. `stated`: it
 * states an endpoint that nobody has asked yet. `no`: nothing of this.
 */
export const Callable = z
  .enum(['hosted', 'open', 'needs_key', 'needs_sign_in', 'package', 'stated', 'no'])
  .meta({ id: 'Callable' })
export type Callable = z.infer<typeof Callable>

/** True for an agent that can be called now, with a credential of the caller if it asks for one. */
export function isCallable({ callable }: { readonly callable: Callable }): boolean {
  return callable !== 'package' && callable !== 'no'
}

/** What an agent answered to a request without a credential. */
export const AccessReport = z
  .object({
    kind: z.enum(['open', 'needs_key', 'needs_sign_in']),
    asked_at: z.iso.datetime(),
  })
  .meta({ id: 'AccessReport' })
export type AccessReport = z.infer<typeof AccessReport>

/** True for an agent that the gateway runs, also while it lacks a setting and cannot be called. */
export function isHosted(entry: {
  readonly callable: Callable
  readonly liveness: { readonly failure: string | null }
}): boolean {
  return entry.callable === 'hosted' || entry.liveness.failure === 'not_configured'
}

/** The bindings of A2A that are called, by the names that cards use. Some call HTTP+JSON by its older name, REST. */
export const a2aBindings: ReadonlyMap<string, 'JSONRPC' | 'HTTP+JSON'> = new Map([
  ['JSONRPC', 'JSONRPC'],
  ['HTTP+JSON', 'HTTP+JSON'],
  ['REST', 'HTTP+JSON'],
])
const mcpBindings: ReadonlySet<string | undefined> = new Set([undefined, 'streamable-http', 'sse'])

/** True for an endpoint whose protocol and transport the gateway speaks. */
export function isSpoken({ protocol, url, binding }: Endpoint): boolean {
  if (!URL.canParse(url)) return false
  const isHttp = /^https?:/i.test(url)
  if (protocol === 'a2a') return isHttp && a2aBindings.has((binding ?? 'JSONRPC').toUpperCase())
  return protocol === 'envelope' ? isHttp : !isHttp || mcpBindings.has(binding)
}

interface Addressed {
  readonly endpoints: readonly Endpoint[]
  readonly card: Readonly<Record<string, unknown>> | null
  readonly manifest_url: string | null
}

/**
 * The endpoints of an entry, in the order of its card. If a card names capabilities and no endpoint, the agent takes
 * envelopes at the address of the card.
 */
export function endpointsOf({ endpoints, card, manifest_url }: Addressed): readonly Endpoint[] {
  if (endpoints.length > 0) return endpoints
  if (card === null || manifest_url === null) return []
  if (card.rendered_by !== undefined || !Array.isArray(card.capabilities)) return []
  return [{ protocol: 'envelope', url: new URL('/a2a/message', manifest_url).href }]
}

/** The endpoints whose addresses need nothing from the user, with their variables filled in. */
export function reachableEndpoints(entry: Addressed): readonly Endpoint[] {
  return endpointsOf(entry).flatMap((endpoint) => {
    const url = filledIn(endpoint.url, endpoint.variables)
    if (url === endpoint.url) return [endpoint]
    return url !== undefined && URL.canParse(url) ? [{ ...endpoint, url }] : []
  })
}

/** The endpoint at which the gateway calls an agent. */
export function calledEndpoint(entry: Addressed): Endpoint | undefined {
  return reachableEndpoints(entry).find(isSpoken)
}
