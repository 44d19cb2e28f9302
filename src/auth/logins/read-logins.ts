import { z } from 'zod'
import { Failure } from '../../../schemas/failure.ts'
import { PackageName } from '../../../schemas/names.ts'
import { SecureUrl } from '../issuers.ts'
import { readJsonSetting, type SettingFault } from '../json-setting.ts'

const id = z
  .string()
  .regex(
    /^[a-z0-9-]{1,40}$/,
    'Use up to 40 lower-case letters, digits and dashes: it is a part of addresses.',
  )
const client = { client_id: z.string().min(1), client_secret: z.string().min(1).optional() }

/** An OpenID Connect issuer, such as that of an organisation. */
const OpenIdLogin = z.strictObject({
  kind: z.literal('oidc'),
  id,
  title: z.string().min(1).max(60),
  issuer: SecureUrl,
  ...client,
  scope: z
    .string()
    .regex(/\bopenid\b/, 'The scope must contain openid.')
    .default('openid profile'),
})

/**
 * GitHub, which has OAuth 2.0 but not OpenID Connect. `url`, `api_url` and `namespace`: of a GitHub Enterprise server,
 * where `namespace` is the prefix of its users' names; `io.github` at github.com.
 */
const GitHubLogin = z.strictObject({
  kind: z.literal('github'),
  id: id.default('github'),
  title: z.string().min(1).max(60).default('GitHub'),
  url: SecureUrl.default('https://github.com'),
  api_url: SecureUrl.default('https://api.github.com'),
  ...client,
  client_secret: z.string().min(1),
  namespace: PackageName.optional(),
})

const LoginSetting = z.discriminatedUnion('kind', [OpenIdLogin, GitHubLogin])
export type OpenIdLogin = z.output<typeof OpenIdLogin>
export type GitHubLogin = z.output<typeof GitHubLogin>

/** The words of paths beside the ids of logins. */
const reserved = new Set(['link', 'device', 'consent', 'error'])

/**
 * The logins in `DRAGOMAN_LOGINS`: the path of a JSON file, or JSON. Throws Failure `invalid_request` that names the
 * invalid entry.
 */
export async function readLogins(
  setting: string | undefined,
): Promise<readonly z.output<typeof LoginSetting>[]> {
  if (setting === undefined) return []
  const logins = await readJsonSetting(setting, z.array(LoginSetting), wrong)
  const ids = logins.map((login) => login.id)
  const twice = ids.find((name, at) => ids.indexOf(name) !== at || reserved.has(name))
  if (twice !== undefined) throw wrong(`The id ${twice} is taken: give each login another one.`)
  return logins
}

function wrong(what: string, { cause }: SettingFault = {}): Failure {
  const hint =
    'It is a list of {kind: "github", client_id, client_secret} and {kind: "oidc", id, title, issuer, client_id, client_secret?}, or the path of a file that holds one.'
  return new Failure('invalid_request', `DRAGOMAN_LOGINS is invalid. ${what}`, { hint }, cause)
}
