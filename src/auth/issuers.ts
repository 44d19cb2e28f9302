import { z } from 'zod'
import { Failure } from '../../schemas/failure.ts'
import { Scope } from '../../schemas/scope.ts'
import { isLoopbackUrl } from '../common/loopback.ts'
import { readJsonSetting, type SettingFault } from './json-setting.ts'

/** Over plain HTTP anybody on the network path could change the answer. */
export const SecureUrl = z
  .url({ protocol: /^https?$/ })
  // RFC 3986: a space begins other words, and what is not ASCII may be invisible, where the address is shown as it is.
  .regex(/^[\x21-\x7e]+$/, { message: 'An address has neither spaces nor characters other than ASCII.' })
  .refine(
    (text) => {
      const url = new URL(text)
      return url.protocol === 'https:' || isLoopbackUrl(url)
    },
    { message: 'Use https, except on loopback.' },
  )

/** Only asymmetric algorithms (RFC 7518, RFC 9864): with a shared secret every verifier could create tokens. */
const Algorithm = z.enum(
  ['EdDSA', 'Ed25519', 'ES256', 'ES384', 'ES512', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  { error: 'Use an asymmetric algorithm, such as EdDSA, ES256 or RS256.' },
)

const list = <T extends z.ZodType>(type: T) =>
  z.union([type.transform((item) => [item]), z.array(type).min(1)])

/** An issuer whose tokens the operator trusts, and the rights that they give. */
const ExternalIssuer = z.strictObject({
  issuer: SecureUrl,
  audience: list(z.string().min(1)),
  algorithms: z.array(Algorithm).min(1).default(['EdDSA', 'ES256', 'RS256']),
  jwks_uri: SecureUrl.optional(),
  scopes: z
    .record(z.string(), list(Scope))
    .refine((map) => !Object.keys(map).some((name) => name.includes('*')), {
      message: 'Wildcards are not supported: name each scope.',
    }),
  namespaces_claim: z.string().min(1).optional(),
  types: z
    .array(z.string().transform((type) => type.toLowerCase().replace(/^application\//, '')))
    .min(1)
    .default(['at+jwt']),
})
export type ExternalIssuer = z.output<typeof ExternalIssuer>

/**
 * The issuers in `DRAGOMAN_ISSUERS`: the path of a JSON file, or JSON. `own` are the issuer names of the gateway's
 * own tokens. Throws Failure `invalid_request` that names the invalid entry.
 */
export async function readIssuers(
  setting: string | undefined,
  own: readonly string[],
): Promise<readonly ExternalIssuer[]> {
  if (setting === undefined) return []
  const issuers = await readJsonSetting(setting, z.array(ExternalIssuer), wrong)
  const names = [...own, ...issuers.map((entry) => entry.issuer)]
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) throw wrong(`${twice} is named twice, or is this gateway itself.`)
  return issuers
}

function wrong(what: string, { errors, cause }: SettingFault = {}): Failure {
  const hint =
    'It is a list of {issuer, audience, scopes, algorithms?, jwks_uri?, namespaces_claim?, types?}, or the path of a file that holds one.'
  return new Failure(
    'invalid_request',
    `DRAGOMAN_ISSUERS is invalid. ${what}`,
    { hint, ...(errors && { errors }) },
    cause,
  )
}
