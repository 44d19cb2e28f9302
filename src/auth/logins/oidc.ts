import { discoveryRequest, getValidatedIdTokenClaims, processDiscoveryResponse } from 'oauth4webapi'
import { createCodeLogin, requestOptions } from './code-login.ts'
import type { Login } from './login.ts'
import type { OpenIdLogin } from './read-logins.ts'

const maxSubject = 200

/**
 * A login at an OpenID Connect issuer (OpenID Connect Core 1.0, section 3.1). Its metadata is read for each login; the
 * ID token comes straight from the issuer, over a connection that names it.
 */
export function createOpenIdLogin(setting: OpenIdLogin, fetch: typeof globalThis.fetch): Login {
  const { issuer } = setting
  return createCodeLogin({
    ...setting,
    has_id_token: true,
    fetch,
    async server(signal) {
      const url = new URL(issuer)
      return await processDiscoveryResponse(
        url,
        await discoveryRequest(url, { ...requestOptions(fetch, signal), algorithm: 'oidc' }),
      )
    },
    async personOf(tokens) {
      const claims = getValidatedIdTokenClaims(tokens)
      if (claims === undefined || claims.sub.length > maxSubject)
        throw new Error('The ID token names nobody.')
      const { sub, name, preferred_username, email } = claims
      const shown = [name, preferred_username, email].find((text) => typeof text === 'string' && text !== '')
      return { issuer, subject: sub, name: String(shown ?? sub).slice(0, maxSubject), namespaces: [] }
    },
  })
}
