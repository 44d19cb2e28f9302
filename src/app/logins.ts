import { createGitHubLogin } from '../auth/logins/github.ts'
import type { Login } from '../auth/logins/login.ts'
import { createOpenIdLogin } from '../auth/logins/oidc.ts'
import { readLogins } from '../auth/logins/read-logins.ts'
import { createWebFetch } from '../net/fetch/web-fetch.ts'
import type { Store } from '../store/store.ts'
import type { Config } from './config.ts'
import type { Outbound } from './outbound.ts'

const limits = { max_bytes: 512 * 1024, max_message_values: 10_000 }

/** The logins of the configuration. Throws Failure `invalid_request` for an invalid one. */
export async function openLogins(
  { DRAGOMAN_LOGINS }: Pick<Config, 'DRAGOMAN_LOGINS'>,
  outbound: Outbound,
  { settings }: Pick<Store, 'settings'>,
): Promise<readonly Login[]> {
  return (await readLogins(DRAGOMAN_LOGINS)).map((setting) => {
    const addresses = setting.kind === 'oidc' ? [setting.issuer] : [setting.url, setting.api_url]
    const allow_origins = addresses.map((address) => new URL(address).origin)
    const fetch = createWebFetch(outbound.reach({ allow_origins }).open, limits)
    return setting.kind === 'oidc'
      ? createOpenIdLogin(setting, fetch)
      : createGitHubLogin(setting, fetch, settings)
  })
}
