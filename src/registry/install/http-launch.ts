import { isIP } from 'node:net'
import type { Endpoint } from '../../../schemas/entry-parts.ts'
import type { NamedInput } from '../../../schemas/package.ts'
import { bareHost, isLocalName, isPublicAddress } from '../../net/fetch/address.ts'
import type { HttpLaunch, NamedTemplate } from './launch.ts'
import { askPublisher, refuse } from './refuse.ts'
import type { Needs, Template } from './template.ts'
import { checkHeaderName } from './variable-rules.ts'

type Stated = Pick<Endpoint, 'url' | 'binding' | 'headers' | 'variables'>

/**
 * Where an address may be: an agent's is public, or one that the operator allows; a package that runs here answers on
 * this machine.
 */
type Reach = 'loopback' | { readonly allowed: readonly string[] }

/**
 * How a host connects to an address. Throws Failure `not_installable` for an address that a host must not be given.
 */
export function httpLaunch(stated: Stated, pointer: string, needs: Needs, reach: Reach): HttpLaunch {
  const at = `${pointer}/url`
  const url = needs.fill(stated.url, stated.variables ?? {}, { part: 'url', name: 'url', pointer: at })
  const { protocol, origin } = checkAddress(url, at, reach)
  const headers = headersOf(stated.headers ?? [], `${pointer}/headers`, needs)
  const isSecret = headers.some(({ value }) =>
    value.some((piece) => typeof piece === 'object' && piece.secret),
  )
  if (reach !== 'loopback' && protocol === 'http:' && isSecret && !isAllowed(origin, reach.allowed)) {
    throw refuse(at, 'It asks for a secret over http, which everybody on the way can read.', askPublisher)
  }
  return { kind: stated.binding === 'sse' ? 'sse' : 'streamable-http', url, headers }
}

/** The address, with a word in the place of each value of the user. */
function checkAddress(url: Template, pointer: string, reach: Reach): URL {
  const first = url[0]
  const sample = url.map((piece) => (typeof piece === 'string' ? piece : (piece.default ?? '0'))).join('')
  if (typeof first !== 'string' || !/^https?:\/\//i.test(first) || !URL.canParse(sample)) {
    throw refuse(
      pointer,
      'Hosts connect only to http and https addresses.',
      'Use the target gateway, if the entry has it.',
    )
  }
  if (/[\s"'<>\\^`|]/.test(sample))
    throw refuse(pointer, 'It holds characters that no address has.', askPublisher)
  const parsed = new URL(sample)
  if (parsed.username !== '' || parsed.password !== '') {
    throw refuse(pointer, 'An address must not hold a user name or a password.', askPublisher)
  }
  const [, second] = url
  // Hosts put a default in themselves, so it is the publisher who names that address.
  const isOpen = /^https?:\/\/$/i.test(first) && typeof second === 'object' && second.default === undefined
  const host = bareHost(parsed.hostname)
  const isLoopback = host === 'localhost' || host === '::1' || /^127\./.test(host)
  if (reach === 'loopback' && !isLoopback && !isOpen) {
    throw refuse(
      pointer,
      'A package that runs on your machine answers at localhost, not at this address.',
      askPublisher,
    )
  }
  const isTrusted = reach === 'loopback' || isAllowed(parsed.origin, reach.allowed)
  if (!isTrusted && !isOpen && !(isIP(host) ? isPublicAddress(host) : !isLocalName(host))) {
    throw refuse(
      pointer,
      'The address is not public: a host would connect to your own network.',
      askPublisher,
    )
  }
  return parsed
}

function isAllowed(origin: string, allowed: readonly string[]): boolean {
  return allowed.some((url) => URL.canParse(url) && new URL(url).origin === origin)
}

function headersOf(stated: readonly NamedInput[], at: string, needs: Needs): NamedTemplate[] {
  const headers = new Map<string, NamedTemplate>()
  for (const [index, header] of stated.entries()) {
    const pointer = `${at}/${index}`
    checkHeaderName(header.name, `${pointer}/name`)
    const place = { part: 'header', name: header.name, pointer } as const
    // A key that is not marked as secret is one nevertheless.
    const isKey = header.value === undefined && header.default === undefined
    const is_secret = header.is_secret ?? (isKey ? true : undefined)
    const value = needs.valueOf({ ...header, ...(is_secret !== undefined && { is_secret }) }, place)
    if (value) headers.set(header.name.toLowerCase(), { name: header.name, value })
  }
  return [...headers.values()]
}
