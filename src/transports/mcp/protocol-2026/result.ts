import type { JsonObject } from '../../../../schemas/json.ts'
import { serverInfoKey } from '../../../common/mcp/protocol.ts'

/**
 * Maximum time for which a client may cache a list, in milliseconds, and for which callers (server/utilities/caching).
 */
export interface Freshness {
  readonly ttlMs: number
  readonly cacheScope: 'public' | 'private'
}

/** Writes results of MCP 2026-07-28: each states that it is complete and names the server. */
interface ResultWriter {
  /** The text of a frozen result is cached. */
  write(result: object, freshness?: Freshness): string
  /** Completes the members of a result, given as JSON without braces and without `_meta`; `meta` is added to `_meta`. */
  close(members: string, meta?: object): string
}

export function createResultWriter(info: JsonObject): ResultWriter {
  const own = { [serverInfoKey]: info }
  const tailWith = (meta: object) => `,"resultType":"complete","_meta":${JSON.stringify(meta)}}`
  const tail = tailWith(own)
  const written = new WeakMap<object, string>()

  function text(result: object, freshness?: Freshness): string {
    const { resultType = 'complete', _meta = {} } = result as { resultType?: string; _meta?: object }
    return JSON.stringify({ ...result, resultType, ...freshness, _meta: { ...own, ..._meta } })
  }

  return {
    write(result, freshness) {
      if (!Object.isFrozen(result)) return text(result, freshness)
      const cached = written.get(result) ?? text(result, freshness)
      written.set(result, cached)
      return cached
    },
    close: (members, meta) => `{${members}${meta ? tailWith({ ...own, ...meta }) : tail}`,
  }
}
