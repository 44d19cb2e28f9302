import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { isRecord, type JsonObject } from '../../../../schemas/json.ts'
import { decodeCursor, encodeCursor } from '../../../common/cursor.ts'
import { upTo } from '../../../common/lru.ts'

const maxLength = 4096

/**
 * The id of a session holds all that there is to know of the client, so that no node keeps a session. It is no secret
 * and proves nothing: each request has its own token.
 */
export function sessionIdOf(capabilities: unknown): string {
  const { elicitation, sampling, roots } = isRecord(capabilities) ? capabilities : {}
  const id = encoded({ elicitation, sampling, roots })
  if (id.length <= maxLength) return id
  const brief = (capability: unknown) => (capability === undefined ? undefined : {})
  return encoded({ elicitation: brief(elicitation), sampling: brief(sampling), roots: brief(roots) })
}

function encoded(capabilities: object): string {
  return encodeCursor([randomUUID(), capabilities])
}

const none: JsonObject = {}
const read = new LRUCache<string, JsonObject>(upTo(1_000))

/** The capabilities in an id; none if there is no id, or it is another server's. */
export function capabilitiesIn(id: string | undefined): JsonObject {
  if (id === undefined || id.length > 2 * maxLength) return none
  const capabilities = read.get(id) ?? parsed(id)
  read.set(id, capabilities)
  return capabilities
}

function parsed(id: string): JsonObject {
  const stated = decodeCursor(id)
  const capabilities: unknown = Array.isArray(stated) ? stated[1] : undefined
  return isRecord(capabilities) ? (capabilities as JsonObject) : none
}
