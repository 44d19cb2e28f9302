import { LRUCache } from 'lru-cache'
import { Failure } from '../../../schemas/failure.ts'
import { isRecord } from '../../../schemas/json.ts'
import { monotonic } from '../../common/clock.ts'
import { httpUrl } from '../../common/http-url.ts'
import { upTo } from '../../common/lru.ts'
import {
  readFirstServer,
  readResource,
  readServer,
  reasonOf,
  resourcePlaces,
  ServerMetadata,
} from './metadata.ts'

/** The agent that asks for a sign-in, and what it answered. */
export interface Challenged {
  readonly package_name: string
  readonly url: string
  readonly protocol: string
  readonly card: Readonly<Record<string, unknown>>
  /** Its WWW-Authenticate. */
  readonly challenge: string
}

/** Where a caller signs in to an agent, and for what. */
export interface Requirement {
  readonly server: ServerMetadata
  /** The resource of the tokens (RFC 8707); absent where the agent names none. */
  readonly resource?: string
  readonly scopes: readonly string[]
}

/** The parameters of a Bearer challenge (RFC 6750, section 3; RFC 9728, section 5.1). */
interface Challenge {
  readonly error?: string
  readonly scope?: string
  readonly resource_metadata?: string
}

export function parseChallenge(text: string): Challenge {
  const pairs = [...text.matchAll(/([a-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))/gi)]
  const values = pairs.map(([, name = '', quoted, token]) => [
    name.toLowerCase(),
    quoted === undefined ? token : quoted.replaceAll(/\\(.)/g, '$1'),
  ])
  const { error, scope, resource_metadata } = Object.fromEntries(values) as Challenge
  return {
    ...(error !== undefined && { error }),
    ...(scope !== undefined && { scope }),
    ...(resource_metadata !== undefined && { resource_metadata }),
  }
}

const maxScopes = 50

/** The scopes of a text, where they are ones (RFC 6749, section 3.3). */
export function scopesIn(text: string | undefined): string[] {
  const words = (text ?? '').split(' ').filter((word) => /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/.test(word))
  return [...new Set(words)].slice(0, maxScopes)
}

const maxCached = 1_000
const cacheMilliseconds = 60_000
/** For all requests of one discovery. */
const discoveryMilliseconds = 15_000

/**
 * Finds out what sign-in an agent asks for; undefined if it asks for none. Answers are kept for a minute. Rejects with a
 * Failure for a sign-in that cannot be used.
 */
export type FindRequirement = (challenged: Challenged) => Promise<Requirement | undefined>

export function createFindRequirement(fetch: typeof globalThis.fetch, clock: () => number): FindRequirement {
  const time = monotonic(clock)
  const cache = new LRUCache<
    string,
    { readonly until: number; readonly found: Promise<Requirement | undefined> }
  >(upTo(maxCached))

  return async (challenged) => {
    const { url, challenge, protocol, card } = challenged
    const key = JSON.stringify([url, challenge, protocol, card.securitySchemes ?? null])
    const cached = cache.get(key)
    const isFresh = cached !== undefined && cached.until > time()
    const found = isFresh ? cached.found : find(fetch, challenged, AbortSignal.timeout(discoveryMilliseconds))
    if (!isFresh) cache.set(key, { until: time() + cacheMilliseconds, found })
    try {
      return await found
    } catch (fault) {
      // Several agents may have this address, and not every caller may know of each.
      throw unusable(challenged.package_name, fault)
    }
  }
}

async function find(
  fetch: typeof globalThis.fetch,
  challenged: Challenged,
  signal: AbortSignal,
): Promise<Requirement | undefined> {
  const { url, challenge, protocol, card } = challenged
  const { scope, resource_metadata } = parseChallenge(challenge)
  const resource = await resourceOf(fetch, url, resource_metadata, signal)
  if (resource) {
    const server = await readFirstServer(fetch, resource.authorization_servers, signal)
    const stated = scopesIn(scope)
    const scopes = stated.length > 0 ? stated : scopesIn(resource.scopes_supported?.join(' '))
    return { server, resource: resource.resource, scopes }
  }
  const scheme = schemeOf(card)
  if (scheme) {
    const stated = scopesIn(scope)
    return { server: await scheme.server(fetch, signal), scopes: stated.length > 0 ? stated : scheme.scopes }
  }
  if (protocol !== 'mcp') return undefined
  // Servers of the revision 2025-03-26 are, or name, their own authorization server.
  const { origin } = httpUrl(url)
  const server = await readServer(fetch, origin, signal).catch(() => undefined)
  return server && { server, scopes: scopesIn(scope) }
}

/** The metadata that a challenge names must be good; at the well-known places it may be absent. */
async function resourceOf(
  fetch: typeof globalThis.fetch,
  called: string,
  stated: string | undefined,
  signal: AbortSignal,
) {
  if (stated !== undefined) return await readResource(fetch, { at: stated, called }, signal)
  for (const at of resourcePlaces(called)) {
    const found = await readResource(fetch, { at, called }, signal).catch(() => undefined)
    if (found) return found
    signal.throwIfAborted()
  }
  return undefined
}

interface Scheme {
  readonly scopes: readonly string[]
  readonly server: (fetch: typeof globalThis.fetch, signal: AbortSignal) => Promise<ServerMetadata>
}

/** The first security scheme of a card (A2A 1.0 section 4.5, or OpenAPI 3.2 in older versions) that is a sign-in. */
function schemeOf({ securitySchemes }: Challenged['card']): Scheme | undefined {
  if (!isRecord(securitySchemes)) return undefined
  for (const scheme of Object.values(securitySchemes).filter(isRecord)) {
    const { oauth2SecurityScheme = scheme, openIdConnectSecurityScheme = scheme } = scheme
    const openId = isRecord(openIdConnectSecurityScheme) ? openIdConnectSecurityScheme : {}
    if (typeof openId.openIdConnectUrl === 'string') return openIdScheme(openId.openIdConnectUrl)
    const oauth = isRecord(oauth2SecurityScheme) ? oauth2SecurityScheme : {}
    const flow = isRecord(oauth.flows) ? oauth.flows.authorizationCode : undefined
    if (isRecord(flow)) return codeScheme(flow, oauth.oauth2MetadataUrl)
  }
  return undefined
}

const openIdSuffix = '/.well-known/openid-configuration'

function openIdScheme(url: string): Scheme {
  return { scopes: [], server: (fetch, signal) => readServer(fetch, url.replace(openIdSuffix, ''), signal) }
}

/** The metadata of the server where there is any, else the endpoints that the card states. */
function codeScheme(flow: Record<string, unknown>, metadataUrl: unknown): Scheme {
  const { authorizationUrl, tokenUrl, scopes } = flow
  const address = typeof metadataUrl === 'string' ? metadataUrl : authorizationUrl
  return {
    scopes: isRecord(scopes) ? scopesIn(Object.keys(scopes).join(' ')) : [],
    async server(fetch, signal) {
      const place = new URL(String(address))
      const issuer = place.origin + place.pathname.replace(/^\/\.well-known\/oauth-authorization-server/, '')
      const stated = typeof metadataUrl === 'string' ? issuer : place.origin
      return await readServer(fetch, stated.replace(/\/$/, ''), signal).catch((fault) => {
        if (typeof metadataUrl === 'string') throw fault
        const issuer = place.origin
        const isOne = URL.parse(String(tokenUrl))?.origin === issuer
        if (!isOne) throw new Error('Its card names endpoints of two hosts, and no metadata that joins them.')
        return ServerMetadata.parse({
          issuer,
          authorization_endpoint: authorizationUrl,
          token_endpoint: tokenUrl,
        })
      })
    },
  }
}

const passed = new Set(['blocked_address', 'upstream_timeout', 'upstream_failed'])

/** The Failure for a sign-in that an agent asks for and that does not work. */
export function unusable(packageName: string, fault: unknown): Failure {
  const causes = [fault, fault instanceof Error ? fault.cause : undefined]
  const failure = causes.find((each) => each instanceof Failure)
  const code = failure && passed.has(failure.code) ? failure.code : 'upstream_invalid'
  const isAway = code === 'upstream_timeout' || code === 'upstream_failed'
  return new Failure(
    code,
    `${packageName} asks for a sign-in that cannot be used: ${reasonOf(fault)}`,
    {
      retryable: isAway,
      hint: isAway ? 'Repeat the call later.' : 'Store a token that you have with set_credential.',
    },
    fault,
  )
}
