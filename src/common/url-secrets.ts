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

/**
 * An API key of this gateway, or a JWT, under any name. The lookbehind lets one JWT begin at most once; without it long
 * texts take quadratic time.
 */
const secret = /drg_[A-Za-z0-9]{8}_|(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\./

/** Whether a path with its query holds a token or a key. */
export function hasSecret(url: string): boolean {
  const at = url.indexOf('?')
  const path = at < 0 ? url : url.slice(0, at)
  return secret.test(decoded(path)) || (at >= 0 && isSecretQuery(url.slice(at + 1)))
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
