import { z } from 'zod'
import { PackageName } from './names.ts'
import { Issuer, Scope, Subject } from './scope.ts'

/**
 * Owners are (issuer, subject) pairs. The local issuer has this one name, whatever base URL or key its tokens have.
 */
export const localIssuer = 'urn:dragoman:local'

/** The person who uses the data of this machine, by a program or in a browser: an owner like any other. */
export const localPersonId = { issuer: localIssuer, subject: 'person:local' } as const

/** The id part of an API key: `drg_` and eight letters or digits. */
export const keyId = /^drg_[A-Za-z0-9]{8}$/
/** A whole API key: its id and 32 random bytes. */
export const wholeKey = /^(drg_[A-Za-z0-9]{8})_[A-Za-z0-9_-]{43}$/

const day = 86_400
const maxKeyLife = 365 * day

/** The rights of a new API key. Default: the rights of its creator except `admin`, for 90 days. */
export const KeyInput = z.strictObject({
  label: z.string().trim().min(1).max(100).optional().describe('The purpose of the key, in words.'),
  scopes: z
    .array(Scope)
    .min(1, 'A key without scopes may do nothing. Leave scopes out for all of yours except admin.')
    .max(10)
    .optional()
    .describe('A subset of your own scopes; all of them except admin when absent.'),
  namespaces: z
    .array(PackageName)
    .max(100)
    .optional()
    .describe('A subset of your own namespaces; all when absent.'),
  ttl_s: z
    .int()
    .min(1)
    .max(maxKeyLife)
    .default(90 * day)
    .describe('Lifetime of the key in seconds; at most 365 days.'),
})
export type KeyInput = z.output<typeof KeyInput>

/** An API key without its secret. Times are RFC 3339. */
export const ApiKey = z
  .object({
    id: z.string(),
    label: z.string().nullable(),
    issuer: z.string(),
    subject: z.string(),
    scopes: z.array(Scope),
    namespaces: z.array(z.string()),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime(),
    revoked: z
      .object({ at: z.iso.datetime(), reason: z.string().nullable() })
      .nullable()
      .describe('When all that was issued to its subject was revoked, and why; null for a key that is not.'),
  })
  .meta({ id: 'ApiKey' })
export type ApiKey = z.infer<typeof ApiKey>

export const NewApiKey = ApiKey.extend({
  key: z.string().describe('The key itself. It is shown only once.'),
}).meta({ id: 'NewApiKey' })
export type NewApiKey = z.infer<typeof NewApiKey>

/** The kinds of revocation that callers request. The first two also need an issuer. */
export type RevocationKind = 'jti' | 'subject' | 'kid' | 'key'

export interface Revocation {
  readonly kind: RevocationKind | 'grant'
  /** Issuer of the token or the subject; '' for a signing key, an API key or a grant. */
  readonly issuer: string
  readonly name: string
  /** Milliseconds since the epoch: tokens issued until then are revoked. */
  readonly before: number
  /** Milliseconds since the epoch after which every token that the revocation covers has expired. */
  readonly expires_at: number
  readonly reason: string | null
}

const name = z.string().min(1).max(200)

/** Revokes exactly one of these. */
export const RevocationInput = z
  .strictObject({
    token: z.string().min(1).max(8192).optional().describe('A whole access token.'),
    jti: name.optional().describe('Id of a token.'),
    subject: Subject.optional().describe('Everything that was issued to this subject until now.'),
    issuer: Issuer.optional().describe(
      'Issuer of the jti or subject. When absent: your own issuer if the subject is yours, else this gateway.',
    ),
    key: name.optional().describe('Id of an API key, with the tokens obtained with it.'),
    kid: name.optional().describe('A signing key, with every token that it signed.'),
    reason: z.string().max(300).optional(),
  })
  .refine(({ reason: _, issuer: __, ...target }) => Object.keys(target).length === 1, {
    message: 'Give exactly one of token, jti, subject, key and kid.',
  })
export type RevocationInput = z.output<typeof RevocationInput>
