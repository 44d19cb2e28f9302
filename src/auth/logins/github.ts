import { z } from 'zod'
import { createCodeLogin } from './code-login.ts'
import type { Login } from './login.ts'
import type { GitHubLogin } from './read-logins.ts'

/** Keeps the first value that is set under a name, and returns it. */
interface Settings {
  settle(name: string, value: string): Promise<string>
}

const User = z.object({
  id: z.int().positive(),
  login: z.string().regex(/^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})$/),
  name: z.string().max(200).nullish(),
})

/**
 * A login at GitHub (docs.github.com, "Authorizing OAuth apps"). The subject is the number of the account, since a
 * user name may change hands. The namespace of a user name belongs to the first account that logs in with it.
 */
export function createGitHubLogin(
  setting: GitHubLogin,
  fetch: typeof globalThis.fetch,
  settings: Settings,
): Login {
  const { url, api_url, ...login } = setting
  const issuer = url.replace(/\/+$/, '')
  const prefix = setting.namespace ?? (issuer === 'https://github.com' ? 'io.github' : undefined)

  /** The namespace of the user name, unless it belongs to another account. */
  async function namespacesOf(subject: string, user: string): Promise<string[]> {
    if (prefix === undefined) return []
    const namespace = `${prefix}.${user.toLowerCase()}`
    const holder = await settings.settle(`holder of ${namespace}`, subject)
    return holder === subject ? [namespace] : []
  }

  return createCodeLogin({
    ...login,
    issuer,
    scope: 'read:user',
    has_id_token: false,
    fetch,
    server: async () => ({
      issuer,
      authorization_endpoint: `${issuer}/login/oauth/authorize`,
      token_endpoint: `${issuer}/login/oauth/access_token`,
    }),
    async personOf({ access_token }, signal) {
      const answer = await fetch(`${api_url.replace(/\/+$/, '')}/user`, {
        headers: { Accept: 'application/vnd.github+json', Authorization: `Bearer ${access_token}` },
        signal,
      })
      if (!answer.ok) throw new Error(`GitHub answers ${answer.status} for its user.`)
      const user = User.parse(await answer.json())
      const subject = String(user.id)
      return {
        issuer,
        subject,
        name: user.name || user.login,
        namespaces: await namespacesOf(subject, user.login),
      }
    },
  })
}
