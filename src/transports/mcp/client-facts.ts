import type { RequestContent } from '../../../schemas/content.ts'
import { isRecord, type JsonObject } from '../../../schemas/json.ts'
import { capabilitiesKey, clientInfoKey, logLevelKey, versionKey } from '../../common/mcp/protocol.ts'
import type { Meta } from './protocol-2026/meta.ts'

/** What a client of MCP states about itself: with each request since 2026-07-28, once with `initialize` before. */
export interface ClientFacts {
  /** Of its protocol version: `legacy` for those with `initialize`. */
  readonly era: 'legacy' | 'modern'
  readonly capabilities: JsonObject
  /** The level from which on the client wants log messages. */
  readonly log_level?: string
}

const protocolKeys = new Set<string>([
  versionKey,
  clientInfoKey,
  capabilitiesKey,
  logLevelKey,
  'progressToken',
])

/** The client, and the `_meta` of its request without the keys of the protocol. */
export function requestContent(facts: ClientFacts, meta: unknown): RequestContent {
  const own = isRecord(meta) ? Object.entries(meta).filter(([key]) => !protocolKeys.has(key)) : []
  return { protocol: 'mcp', ...facts, meta: Object.fromEntries(own) as JsonObject }
}

/** The client by the `_meta` of its request. */
export function factsOf(meta: Meta): ClientFacts {
  const level = meta[logLevelKey]
  return {
    era: 'modern',
    capabilities: meta[capabilitiesKey] as JsonObject,
    ...(level !== undefined && { log_level: level }),
  }
}
