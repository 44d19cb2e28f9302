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
 * The address of the peer or, behind a proxy that the operator trusts, the last address that the proxy names. An
 * IPv6 caller counts as its /64, since one caller can use every address in it.
 */
function addressOf(context: Pick<TransportContext, 'trusted_proxies'>, request: IncomingMessage): string {
  const peer = peerOf(request.socket)
  if (!context.trusted_proxies.includes(peer)) return network(peer)
  const forwarded = String(request.headers['x-forwarded-for'] ?? '')
    .split(',')
    .at(-1)
    ?.trim()
  return network(forwarded ? plain(forwarded) : peer)
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
