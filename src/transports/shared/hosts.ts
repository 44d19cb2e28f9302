import type { IncomingMessage } from 'node:http'
import { Failure } from '../../../schemas/failure.ts'
import { isLoopback } from '../../common/loopback.ts'

/** Returns the failure of a request for another server; undefined if the host is accepted. */
export type RefuseHost = (request: Pick<IncomingMessage, 'headers'>) => Failure | undefined

/**
 * The host names that a server on `host` accepts. On loopback: loopback names and those of its public addresses, since
 * a web page may point its own domain to loopback (DNS rebinding). On any other address: every name, as health checks
 * require.
 */
export function hostRule(host: string, addresses: () => readonly string[]): RefuseHost {
  if (!isLoopback(host)) return () => undefined
  let last: string | undefined
  return ({ headers }) => {
    const header = headers.host
    // HTTP/1.0 clients may omit the header; browsers never do.
    if (header === undefined || header === last) return undefined
    const name = hostnameOf(header)
    if (name !== undefined && (isLoopback(name) || addresses().some((url) => hostnameOf(url) === name))) {
      last = header
      return undefined
    }
    return new Failure('forbidden', `This gateway does not serve the host ${header.slice(0, 100)}.`, {
      hint: 'The gateway listens on loopback only. If clients reach it by another name, such as through a proxy, the operator sets DRAGOMAN_BASE_URL to that address.',
    })
  }
}

/** The host name in an address, or in a Host header (RFC 9110 section 7.2). */
function hostnameOf(text: string): string | undefined {
  const url = text.includes('://') ? text : `http://${text}`
  if (!URL.canParse(url)) return undefined
  const { hostname, username, pathname, search } = new URL(url)
  const mere = text.includes('://') || (username === '' && pathname === '/' && search === '')
  return mere ? hostname.replace(/\.$/, '') : undefined
}
