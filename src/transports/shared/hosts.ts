import type { IncomingMessage } from 'node:http'
import { Failure } from '../../../schemas/failure.ts'

/** Names of this machine for itself: RFC 6761 section 6.3, RFC 1122 section 3.2.1.3, RFC 4291 section 2.5.3. */
export function isLoopback(hostname: string): boolean {
  const name = hostname.toLowerCase().replace(/\.$/, '')
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '[::1]' ||
    name === '::1' ||
    /^127(?:\.\d{1,3}){3}$/.test(name)
  )
}

/** Why a request is not for this server; undefined where it is. */
export type RefuseHost = (request: Pick<IncomingMessage, 'headers'>) => Failure | undefined

/**
 * Which names a server that listens on `host` answers to. On loopback, its own and those of its public addresses
 * alone: a page whose domain was made to point here (DNS rebinding) names that domain. On any other address whoever
 * reaches it may, by IP or by whatever name, as health checks do.
 */
export function hostRule(host: string, addresses: () => readonly string[]): RefuseHost {
  if (!isLoopback(host)) return () => undefined
  let last: string | undefined
  return ({ headers }) => {
    const header = headers.host
    // HTTP/1.0 may leave it out, and no browser does.
    if (header === undefined || header === last) return undefined
    const name = hostnameOf(header)
    if (name !== undefined && (isLoopback(name) || addresses().some((url) => hostnameOf(url) === name))) {
      last = header
      return undefined
    }
    return new Failure('forbidden', `This gateway is not ${header.slice(0, 100)}.`, {
      hint: 'It listens on loopback alone. Where it is reached by another name, as through a proxy, the operator sets DRAGOMAN_BASE_URL to that address.',
    })
  }
}

/** Of an address, or of a Host header (RFC 9110 section 7.2). */
function hostnameOf(text: string): string | undefined {
  const url = text.includes('://') ? text : `http://${text}`
  if (!URL.canParse(url)) return undefined
  const { hostname, username, pathname, search } = new URL(url)
  const mere = text.includes('://') || (username === '' && pathname === '/' && search === '')
  return mere ? hostname.replace(/\.$/, '') : undefined
}
