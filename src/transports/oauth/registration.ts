import { isRecord } from '../../../schemas/json.ts'
import { grantsOfPeople, ownClients } from '../../auth/authorization-server/clients.ts'
import { isLoopbackUrl } from '../../common/loopback.ts'

/** RFC 7591 section 3.2.2. */
export class RegistrationRefusal extends Error {
  override readonly name = 'RegistrationRefusal'
  readonly error: 'invalid_redirect_uri' | 'invalid_client_metadata'

  constructor(error: RegistrationRefusal['error'], message: string) {
    super(message)
    this.error = error
  }
}

const maxAddresses = 10
const maxAddressLength = 1000
/** RFC 8252 section 7.1: an application's own scheme is a domain in reverse, or at least no scheme of browsers. */
const foreignSchemes =
  /^(?:javascript|vbscript|data|blob|file|filesystem|about|view-source|ftp|ws|wss|chrome.*|resource|mailto|tel|sms|intent|jar):$/
/** Visible text that reads in one direction. */
const shownName =
  /^[^\p{Control}\p{Format}\p{Private_Use}\p{Surrogate}\p{Line_Separator}\p{Paragraph_Separator}]{1,100}$/u

/** Hosts put the name of the server into their own, so only a whole name is refused. */
function isOwnName(name: string): boolean {
  const plain = (text: string) => text.normalize('NFKC').replace(/\s+/g, ' ').trim().toLowerCase()
  return ownClients.some(({ client_name }) => plain(client_name) === plain(name))
}

/**
 * What is registered of the metadata that a client states. Every client is public and native: it proves itself by PKCE,
 * and its user decides each time. Scopes are not bound to it, since a host asks for more of them when it needs more. A member that has no use here is left out of the answer (RFC 7591 section 2).
 */
export function registered(stated: unknown): Record<string, unknown> {
  if (!isRecord(stated)) throw invalid('The metadata is not a JSON object.')
  const { client_name, grant_types, software_id, software_version } = stated
  if (client_name !== undefined && !(typeof client_name === 'string' && shownName.test(client_name))) {
    throw invalid('client_name is not 1 to 100 visible characters.')
  }
  if (typeof client_name === 'string' && isOwnName(client_name)) {
    throw invalid('client_name is that of a client of this gateway.')
  }
  const requested = Array.isArray(grant_types) ? grant_types.filter((grant) => grantsOfPeople.has(grant)) : []
  const granted = requested.length > 0 ? requested : ['authorization_code', 'refresh_token']
  const hasCode = granted.includes('authorization_code')
  return {
    ...(client_name !== undefined && { client_name }),
    redirect_uris: hasCode ? addressesIn(stated.redirect_uris) : [],
    grant_types: granted,
    response_types: hasCode ? ['code'] : [],
    token_endpoint_auth_method: 'none',
    application_type: 'native',
    ...(typeof software_id === 'string' && { software_id: software_id.slice(0, 100) }),
    ...(typeof software_version === 'string' && { software_version: software_version.slice(0, 100) }),
  }
}

function addressesIn(stated: unknown): string[] {
  const addresses = Array.isArray(stated) ? stated : []
  if (addresses.length === 0 || addresses.length > maxAddresses || !addresses.every(isAddress)) {
    throw new RegistrationRefusal(
      'invalid_redirect_uri',
      `redirect_uris are 1 to ${maxAddresses} addresses: https, http on loopback, or the own scheme of an application, without a fragment.`,
    )
  }
  return addresses
}

function isAddress(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > maxAddressLength || /[\s#\\]/.test(value)) return false
  const url = URL.parse(value)
  if (url?.username !== '' || url.password !== '') return false
  if (url.protocol === 'http:') return isLoopbackUrl(url)
  if (url.protocol === 'https:') return !isLoopbackUrl(url)
  return !foreignSchemes.test(url.protocol)
}

function invalid(message: string): RegistrationRefusal {
  return new RegistrationRefusal('invalid_client_metadata', message)
}
