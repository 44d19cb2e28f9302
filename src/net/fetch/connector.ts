import type { LookupAddress, LookupAllOptions } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { buildConnector } from 'undici'
import { bareHost } from './address.ts'
import { blocked, type Rules } from './rules.ts'

/** `dns.lookup` with `all: true`. */
export type Lookup = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

type Connector = buildConnector.connector
type Options = buildConnector.Options

const connectTimeout = 5_000

/**
 * Opens sockets to public addresses only. An address is checked if it is a literal (no lookup runs for those), if a
 * name resolves to it (one private answer blocks the name; the checked answers are the ones connected to, which
 * prevents DNS rebinding), and once more on the open socket.
 */
export function guardedConnector(lookup: Lookup, rules: Rules): Connector {
  const common = { timeout: connectTimeout, allowH2: false, maxCachedSessions: 0 }
  const open = buildConnector({ ...common, lookup: adapted(lookup) })
  const guarded = buildConnector({ ...common, lookup: adapted(publicOnly(lookup, rules)) })
  return (options, callback) => {
    if (rules.allowed.has(originOf(options))) return open(options, callback)
    const host = bareHost(options.hostname)
    if (isIP(host) !== 0 && !rules.is_public(host)) return callback(blocked(host), null)
    guarded(options, (...[error, socket]) => {
      if (error) return callback(error, null)
      if (rules.is_public(socket.remoteAddress ?? '')) return callback(null, socket)
      socket.destroy()
      callback(blocked(host), null)
    })
  }
}

function publicOnly(lookup: Lookup, rules: Rules): Lookup {
  return (hostname, options, callback) =>
    lookup(hostname, options, (error, addresses) => {
      if (error) return callback(error, [])
      const isPublic = addresses.length > 0 && addresses.every(({ address }) => rules.is_public(address))
      callback(isPublic ? null : blocked(hostname), isPublic ? addresses : [])
    })
}

/** Adapts to both forms of `dns.lookup`: Node asks for one address or for all. */
function adapted(lookup: Lookup): LookupFunction {
  return (hostname, options, callback) =>
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      // Node passes no addresses with an error.
      const [first] = error ? [] : addresses
      if (error || !first) return callback(error ?? noAddress(hostname), '', 0)
      if (options.all) return callback(null, addresses)
      callback(null, first.address, first.family)
    })
}

function noAddress(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' })
}

/** undici passes an IPv6 host without its brackets. */
function originOf({ protocol, hostname, port }: Options): string {
  const host = isIP(hostname) === 6 ? `[${hostname}]` : hostname
  return new URL(`${protocol}//${host}${port ? `:${port}` : ''}`).origin
}
