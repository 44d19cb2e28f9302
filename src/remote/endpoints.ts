import type { EntryDetail } from '../../schemas/card.ts'
import type { Endpoint } from '../../schemas/entry-parts.ts'
import { addressOf } from '../../schemas/names.ts'
import type { RemoteFacts } from './remote-agent.ts'

/**
 * Where an entry answers, in the order of its card. A card in the shape of the interface that names no endpoint is
 * of an agent that takes envelopes where its card is.
 */
export function endpointsOf({ endpoints, card, manifest_url }: EntryDetail): readonly Endpoint[] {
  if (endpoints.length > 0) return endpoints
  if (card.rendered_by !== undefined || !Array.isArray(card.capabilities)) return []
  return [{ protocol: 'envelope', url: new URL('/a2a/message', manifest_url).href }]
}

export function factsOf({ package_name, card }: EntryDetail): RemoteFacts {
  const { agent_id } = card
  const address = typeof agent_id === 'string' && agent_id !== '' ? agent_id : addressOf(package_name)
  return { package_name, address: address.slice(0, 220), card }
}
