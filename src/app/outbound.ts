import { systemWait, type Wait } from '../common/clock.ts'
import type { Upstreams } from '../common/upstream.ts'
import {
  createSafeFetch,
  type Fetch,
  type SafeFetch,
  type SafeFetchOptions,
} from '../net/fetch/safe-fetch.ts'
import { createUpstreams } from '../net/upstream/upstreams.ts'
import type { Site } from '../registry/entry/site.ts'
import { version } from './assets.ts'
import type { Config } from './config.ts'

/** What tests may set. */
export interface OutsideOptions {
  readonly wait?: Wait
  readonly lookup?: SafeFetchOptions['lookup']
  readonly is_public?: SafeFetchOptions['is_public']
  readonly ports?: SafeFetchOptions['ports']
}

export interface OutsidePorts {
  /** Closes every way out. */
  readonly stack: AsyncDisposableStack
  readonly config: Pick<Config, 'DRAGOMAN_CONTACT'>
  readonly site: () => Site
  readonly clock: () => number
  readonly options: OutsideOptions
}

/** The ways out of a gateway, none of which leads back to itself unless that is asked for. */
export interface Outside {
  reach(settings: Partial<SafeFetchOptions>): SafeFetch
  outside(allowed: readonly string[], idle_ms?: number): Fetch
  upstreams(allowed: readonly string[]): Upstreams
}

export function createOutside({ stack, config, site, clock, options }: OutsidePorts): Outside {
  const { wait = systemWait, lookup, is_public, ports } = options
  const user_agent = userAgent(config)

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

  function outside(allow_origins: readonly string[], idle_ms?: number): Fetch {
    return reach({ allow_origins, ...(idle_ms !== undefined && { idle_ms }) }).fetch
  }

  return {
    reach,
    outside,
    upstreams: (allowed) => stack.use(createUpstreams({ fetch: outside(allowed), clock, wait })),
  }
}

function userAgent({ DRAGOMAN_CONTACT }: OutsidePorts['config']): string {
  return DRAGOMAN_CONTACT ? `Dragoman/${version} (${DRAGOMAN_CONTACT})` : `Dragoman/${version}`
}
