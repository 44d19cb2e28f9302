import { isIP } from 'node:net'
import type { Publication } from '../../../schemas/publication.ts'
import type { Finding } from '../../../schemas/trust.ts'
import { bareHost, isLocalName, isPublicAddress } from '../../net/fetch/address.ts'

/** Warnings about the addresses that a publication states and that this gateway does not call. */
export function privateAddresses(
  { endpoints = [], manifest_url }: Publication,
  allowedOrigins: readonly string[],
): Finding[] {
  const stated = [
    ...(manifest_url === undefined ? [] : [['/manifest_url', manifest_url] as const]),
    ...endpoints.map(({ url }, index) => [`/endpoints/${index}/url`, url] as const),
  ]
  return stated.flatMap(([field, text]) => {
    const url = URL.parse(text)
    if (!url || !isPrivate(bareHost(url.hostname)) || allowedOrigins.includes(url.origin)) return []
    return [
      {
        severity: 'warning',
        code: 'private_address',
        field,
        message: `${url.host} is not a public address, so this gateway does not call it.`,
        suggestion: `For an agent on your own machine or network, start the gateway with DRAGOMAN_ALLOW_ORIGINS=${url.origin}. Else state the public address.`,
      },
    ]
  })
}

function isPrivate(host: string): boolean {
  return isIP(host) === 0 ? isLocalName(host) : !isPublicAddress(host)
}
