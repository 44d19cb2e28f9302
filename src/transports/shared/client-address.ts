import type { IncomingMessage } from 'node:http'
import { isIPv6, type Socket } from 'node:net'
import { passedAgents } from '../../../schemas/via.ts'
import type { Client } from '../../router/call.ts'
import type { TransportContext } from './transport-context.ts'

/** The client of a connection that is not HTTP. */
export function clientAt(socket: Pick<Socket, 'remoteAddress'>): Client {
  return { address: network(peerOf(socket)), via: nowhere }
}

/** The client of a request. */
export function clientOf(
  context: Pick<TransportContext, 'trusted_proxies'>,
  request: IncomingMessage,
): Client {
  const { via } = request.headers
  return { address: addressOf(context, request), via: via === undefined ? nowhere : passedAgents(via) }
}

const nowhere: readonly string[] = Object.freeze([])

/**
 * The address of the peer or, behind proxies that the operator trusts, the last address of their chain that is none of
 * them: what stands before it is what the caller sent. An IPv6 caller counts as its /64, since one caller can use every
 * address in it.
 */
function addressOf(
  { trusted_proxies }: Pick<TransportContext, 'trusted_proxies'>,
  request: IncomingMessage,
): string {
  let address = peerOf(request.socket)
  if (!trusted_proxies.has(address)) return network(address)
  const chain = String(request.headers['x-forwarded-for'] ?? '').split(',')
  for (const forwarded of chain.toReversed()) {
    const named = plain(forwarded.trim())
    if (named === '') break
    address = named
    if (!trusted_proxies.has(address)) break
  }
  return network(address)
}

/** The address of the other end of a connection. */
export function peerOf({ remoteAddress }: Pick<Socket, 'remoteAddress'>): string {
  return plain(remoteAddress ?? 'unknown')
}

/** Unwraps an IPv4-mapped IPv6 address. */
function plain(address: string): string {
  return address.startsWith(':') ? address.replace(/^::ffff:(?=\d+\.)/i, '') : address
}

function network(address: string): string {
  if (!address.includes(':') || !isIPv6(address)) return address.slice(0, 64)
  const [head = '', tail] = address.toLowerCase().split('::')
  const groups = head.split(':').filter(Boolean)
  const rest = tail === undefined ? [] : tail.split(':').filter(Boolean)
  const missing = tail === undefined ? 0 : 8 - groups.length - rest.length
  return [...groups, ...Array<string>(missing).fill('0'), ...rest]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16))
    .join(':')
}
