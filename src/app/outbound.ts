import type { Upstreams } from '../common/upstream.ts'
import type { Fetch } from '../net/fetch/fetch.ts'
import { createSafeFetch, type SafeFetch, type SafeFetchOptions } from '../net/fetch/safe-fetch.ts'
import { createUpstreams } from '../net/upstream/upstreams.ts'
import { version } from './assets.ts'
import type { Runtime } from './runtime.ts'

/** The outbound HTTP clients of a gateway. None reaches the gateway itself, unless `refuse_origins` allows it. */
export interface Outbound {
  /** Reaches public addresses and the origins that the operator allows. */
  readonly public: SafeFetch
  /** A client with its own settings. */
  reach(settings: Partial<SafeFetchOptions>): SafeFetch
  /** A fetch for which these origins are exempt from the public-address rule. */
  fetchFrom(allow_origins: readonly string[], idle_ms?: number): Fetch
  /** Rate limits, circuits and caches for agents that call these origins. */
  upstreams(allow_origins: readonly string[]): Upstreams
}

export function createOutbound({ stack, config, options, site, clock, wait }: Runtime): Outbound {
  const { lookup, is_public, ports } = options
  const { DRAGOMAN_CONTACT: contact } = config
  const user_agent = contact ? `Dragoman/${version} (${contact})` : `Dragoman/${version}`

  function reach(settings: Partial<SafeFetchOptions>): SafeFetch {
    return stack.use(
      createSafeFetch({
        user_agent,
        refuse_origins: () => [site().base_url],
        ...(lookup && { lookup }),
        ...(is_public && { is_public }),
        ...(ports && { ports }),
        ...settings,
      }),
    )
  }

  function fetchFrom(allow_origins: readonly string[], idle_ms?: number): Fetch {
    return reach({ allow_origins, ...(idle_ms !== undefined && { idle_ms }) }).fetch
  }

  return {
    public: reach({ allow_origins: config.DRAGOMAN_ALLOW_ORIGINS }),
    reach,
    fetchFrom,
    upstreams: (origins) => stack.use(createUpstreams({ fetch: fetchFrom(origins), clock, wait })),
  }
}
