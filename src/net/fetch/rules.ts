import { isIP } from 'node:net'
import { Failure } from '../../../schemas/failure.ts'
import { bareHost, isLocalName } from './address.ts'

/** Who may be called. */
export interface Rules {
  /** Is a literal IP address public? */
  readonly is_public: (address: string) => boolean
  /** Ports that a public address may be called at. */
  readonly ports: ReadonlySet<number>
  /** Origins exempt from the rules on addresses, names and ports. */
  readonly allowed: ReadonlySet<string>
  /** Origins refused to everybody, allowed or not; asked anew for each hop. */
  readonly refused: () => readonly URL[]
}

const maxUrlLength = 2048
const hint = "The operator may allow this URL's origin in DRAGOMAN_ALLOW_ORIGINS."

/**
 * Checks what the URL alone tells: scheme, user information, host, port. What its name resolves to is
 * the connector's business. Throws Failure `invalid_request` for a URL that no rule could allow, and
 * `blocked_address` for a place that is not public.
 */
export function checkUrl(text: string, rules: Rules): URL {
  if (text.length > maxUrlLength) throw unfit(`The URL is longer than ${maxUrlLength} characters.`)
  const url = URL.parse(text)
  if (!url) throw unfit('This is not an absolute URL.')
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw unfit(`Only http and https URLs are fetched, not ${url.protocol.slice(0, 40)}`)
  }
  if (url.username !== '' || url.password !== '') throw unfit('A URL with a user name is not fetched.')
  url.hash = ''
  if (rules.refused().some((own) => isSameServer(own, url))) {
    throw new Failure('blocked_address', 'The gateway does not call itself.')
  }
  if (!rules.allowed.has(url.origin)) checkPlace(url, rules)
  return url
}

/** The refusal of a place, worded alike for every reason that an outsider should not learn. */
export function blocked(what: string): Failure {
  return new Failure('blocked_address', `${what.slice(0, 300)} is not a public address.`, { hint })
}

function checkPlace(url: URL, rules: Rules): void {
  const host = bareHost(url.hostname)
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  if (isIP(host) === 0 ? isLocalName(host) : !rules.is_public(host)) throw blocked(url.host)
  if (!rules.ports.has(port)) {
    throw new Failure('blocked_address', `Port ${port} is not called, only ${[...rules.ports].join(', ')}.`, {
      hint,
    })
  }
}

/** One origin, however its host is spelt: with a trailing dot, or as any name of this machine. */
function isSameServer(one: URL, other: URL): boolean {
  return one.protocol === other.protocol && one.port === other.port && place(one) === place(other)
}

function place(url: URL): string {
  const host = bareHost(url.hostname)
  const isOwnMachine = /^127\.|^(0\.0\.0\.0|localhost|::1?|::ffff:7f[0-9a-f]{2}:[0-9a-f]+)$/.test(host)
  return isOwnMachine ? 'localhost' : host
}

function unfit(detail: string): Failure {
  return new Failure('invalid_request', detail, { errors: [{ pointer: '/url', detail }] })
}
