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
/** An API key of ours, or a JWT, whatever it is called. */
const secret = /drg_[A-Za-z0-9]{8}_|eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\./

/** The refusal of an address whose query holds a token or a key; it does not repeat what it found. */
export function secretInQuery(url = ''): Failure | undefined {
  const at = url.indexOf('?')
  if (at < 0) return undefined
  const query = new URLSearchParams(url.slice(at + 1))
  const found = [...query].some(
    ([name, value]) =>
      names.has(name.toLowerCase().replaceAll('-', '_')) || secret.test(name) || secret.test(value),
  )
  if (!found) return undefined
  return new Failure('invalid_request', 'A token or a key does not belong in the address.', {
    hint: 'Send it as Authorization: Bearer TOKEN. Take the one that you sent as known to others, and replace it.',
  })
}
