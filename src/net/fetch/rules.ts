import { isIP } from 'node:net'
import { LRUCache } from 'lru-cache'
import { Failure } from '../../../schemas/failure.ts'
import { upTo } from '../../common/lru.ts'
import { bareHost, isLocalName } from './address.ts'

/** Which addresses may be called. */
export interface Rules {
  /** Is a literal IP address public? */
  readonly is_public: (address: string) => boolean
  /** Ports at which a public address may be called. */
  readonly ports: ReadonlySet<number>
  /** Origins exempt from the rules on addresses, names and ports. */
  readonly allowed: ReadonlySet<string>
  /** Origins that are always refused, even if allowed; read again for each hop. */
  readonly refused: () => readonly URL[]
}

const maxUrlLength = 2048
const hint =
  'The operator may allow the origin of this URL: add it to DRAGOMAN_ALLOW_ORIGINS in dragoman.json of the data folder, and start the gateway again.'

/**
 * Checks the URL itself: scheme, user information, host, port. The connector checks the addresses to which its name
 * resolves. Throws Failure `invalid_request` for a URL that no rule could allow, and `blocked_address` for one that is
 * not public.
 */
export function checkUrl(text: string, rules: Rules): URL {
  if (text.length > maxUrlLength) throw invalidUrl(`The URL is longer than ${maxUrlLength} characters.`)
  const url = parsed(text)
  if (!url) throw invalidUrl('This is not an absolute URL: begin it with https:// or http://.')
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw invalidUrl(`Only http and https URLs are fetched, not ${url.protocol.slice(0, 40)}`)
  }
  if (url.username !== '' || url.password !== '')
    throw invalidUrl('A URL with a user name or password is not fetched.')
  if (rules.refused().some((own) => isSameServer(own, url))) {
    throw new Failure('blocked_address', 'The gateway does not call itself.')
  }
  if (!rules.allowed.has(url.origin)) checkAddress(url, rules)
  return url
}

/** Addresses that were parsed lately: agents are called again and again. Nobody changes them. */
const lately = new LRUCache<string, URL>(upTo(1_000))

/** The address without its fragment. */
function parsed(text: string): URL | null {
  const before = lately.get(text)
  if (before) return before
  const url = URL.parse(text)
  if (!url) return null
  url.hash = ''
  lately.set(text, url)
  return url
}

/** The error for a blocked address. Its text is the same for every reason, which an outsider should not learn. */
export function blocked(what: string): Failure {
  return new Failure('blocked_address', `${what.slice(0, 300)} is not a public address.`, { hint })
}

function checkAddress(url: URL, rules: Rules): void {
  const host = bareHost(url.hostname)
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  if (isIP(host) === 0 ? isLocalName(host) : !rules.is_public(host)) throw blocked(url.host)
  if (!rules.ports.has(port)) {
    throw new Failure('blocked_address', `Port ${port} is not called, only ${[...rules.ports].join(', ')}.`, {
      hint,
    })
  }
}

/** Compares origins whatever the spelling of the host: with a trailing dot, or as any name of this machine. */
function isSameServer(left: URL, right: URL): boolean {
  return left.protocol === right.protocol && left.port === right.port && hostOf(left) === hostOf(right)
}

function hostOf(url: URL): string {
  const host = bareHost(url.hostname)
  const isOwnMachine = /^127\.|^(0\.0\.0\.0|localhost|::1?|::ffff:7f[0-9a-f]{2}:[0-9a-f]+)$/.test(host)
  return isOwnMachine ? 'localhost' : host
}

function invalidUrl(detail: string): Failure {
  return new Failure('invalid_request', detail, { errors: [{ pointer: '/url', detail }] })
}
