import { Failure } from '../../../schemas/failure.ts'

const names = new Set([
  'access_token',
  'api_key',
  'apikey',
  'auth',
  'authorization',
  'bearer',
  'client_secret',
  'id_token',
  'jwt',
  'key',
  'refresh_token',
  'secret',
  'token',
  'x_api_key',
])
/** An API key of ours, or a JWT, whatever it is called. One JWT begins at most once, else long ones take long. */
const secret = /drg_[A-Za-z0-9]{8}_|(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\./

/** The refusal of an address that holds a token or a key, in its path or its query; it does not repeat what it found. */
export function secretInAddress(url = ''): Failure | undefined {
  const at = url.indexOf('?')
  const path = at < 0 ? url : url.slice(0, at)
  if (!secret.test(decoded(path)) && !(at >= 0 && isSecretQuery(url.slice(at + 1)))) return undefined
  return new Failure('invalid_request', 'A token or a key does not belong in the address.', {
    hint: 'Send it as Authorization: Bearer TOKEN. Take the one that you sent as known to others, and replace it.',
  })
}

function isSecretQuery(query: string): boolean {
  return [...new URLSearchParams(query)].some(
    ([name, value]) =>
      names.has(name.toLowerCase().replaceAll('-', '_')) || secret.test(name) || secret.test(value),
  )
}

function decoded(path: string): string {
  try {
    return path.includes('%') ? decodeURIComponent(path) : path
  } catch {
    return path
  }
}
