import { z } from 'zod'
import type { Endpoint } from './entry-parts.ts'
import { fixedValue } from './package.ts'
import { agentReference } from './publication.ts'

/** Header fields of the connection, and fields that the gateway sets itself. */
const notOurs =
  /^(host|cookie|connection|keep-alive|proxy-.*|content-.*|transfer-.*|trailer|accept(-.*)?|via|te|upgrade|expect|user-agent|forwarded|x-forwarded-.*|last-event-id|sec-.*|dragoman-.*|a2a-.*|mcp-.*)$/

const headerName = /^[a-z0-9-]{1,60}$/
/** Visible ASCII, with spaces between. */
const headerValue = /^[\x21-\x7e](?:[\x20-\x7e]{0,8190}[\x21-\x7e])?$/

/** The headers of an endpoint whose values its publisher fixes, by their names in lower case. */
export function fixedHeaders({ headers = [] }: Pick<Endpoint, 'headers'>): Readonly<Record<string, string>> {
  const fixed = headers.map((header) => [header.name.toLowerCase(), fixedValue(header) ?? ''] as const)
  return Object.fromEntries(
    fixed.filter(([name, value]) => headerName.test(name) && !notOurs.test(name) && headerValue.test(value)),
  )
}

const secretValue = z
  .string()
  .regex(headerValue, 'This must be visible ASCII.')
  .describe('The whole value, such as `Bearer TOKEN` for a header. It is never returned.')

/** The credential that the gateway gives to one agent on behalf of one caller. */
export const CredentialInput = z.strictObject({
  agent: agentReference,
  header: z
    .string()
    .toLowerCase()
    .regex(headerName, 'A header field is letters, digits and dashes.')
    .refine((name) => !notOurs.test(name), 'This header field is not a credential.')
    .default('authorization')
    .describe('Header field that carries the credential, for an agent with an address.'),
  variable: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('Secret variable or argument of a package, by its name, in place of a header.'),
  value: secretValue,
})
export type CredentialInput = z.output<typeof CredentialInput>

/** What is public of the tokens that a caller got by signing in to an agent. Times are RFC 3339. */
export const SignInFacts = z
  .object({
    issuer: z.string().describe('The authorization server.'),
    scopes: z.array(z.string()),
    expires_at: z.iso
      .datetime()
      .nullable()
      .describe('End of the access token, which is renewed by itself where the server permits it.'),
  })
  .meta({ id: 'SignInFacts' })
export type SignInFacts = z.infer<typeof SignInFacts>

/** A credential without its value. Times are RFC 3339. */
export const Credential = z
  .object({
    agent: z.string().describe('Package name of the agent.'),
    kind: z
      .enum(['header', 'variable', 'sign_in'])
      .describe('`sign_in`: you signed in to the agent (OAuth). Otherwise you stored the value.'),
    header: z.string().describe('Empty for a variable of a package.'),
    variable: z.string().nullable().describe('null for a header.'),
    sign_in: SignInFacts.nullable(),
    origin: z
      .string()
      .describe(
        'The only origin, or package, to which the gateway gives the credential, even if the agent’s card changes.',
      ),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'Credential' })
export type Credential = z.infer<typeof Credential>

/** Where a caller signs in to an agent, in a browser. Times are RFC 3339. */
export const SignInAddress = z
  .object({
    agent: z.string().describe('Package name of the agent.'),
    sign_in_url: z.url().describe('It works once. Nobody but you may open it.'),
    issuer: z.string().describe('The authorization server to which it leads.'),
    scopes: z.array(z.string()),
    expires_at: z.iso.datetime(),
  })
  .meta({ id: 'SignInAddress' })
export type SignInAddress = z.infer<typeof SignInAddress>

/** An address of this gateway at which a caller signs in to an agent. */
export interface SignInPlace {
  readonly sign_in_url: string
  readonly issuer: string
  readonly scopes: readonly string[]
  /** Milliseconds since the epoch. */
  readonly expires_at: number
}

/** The credential of one caller for one agent, sealed. Times are RFC 3339. */
export interface StoredCredential {
  /** [issuer, subject] as JSON. */
  readonly owner: string
  readonly entry_id: string
  /** The variable of a package that it is the value of; empty for a header. */
  readonly variable: string
  /** Where it is sent; for a variable the package without its version, as a package URL. */
  readonly origin: string
  /** Empty for a variable. */
  readonly header: string
  readonly sealed: string
  readonly created_at: string
  /** With the address of the agent; null for a value that its owner stored. */
  readonly sign_in: (SignInFacts & { readonly url: string }) | null
}

/** Values of the variables of a package that somebody stored, by name; `key` differs for each set of values. */
export interface StoredVariables {
  readonly key: string
  readonly values: ReadonlyMap<string, string>
}

/** Credentials for other agents: for each caller and entry, one of a header and one of each variable. */
export interface CredentialStore {
  find(owner: string, entryId: string): Promise<readonly StoredCredential[]>
  list(owner: string): Promise<readonly StoredCredential[]>
  /** Adds or replaces a credential; false if its owner has `max` others. */
  put(credential: StoredCredential, max: number): Promise<boolean>
  /** Removes the credential of a variable, or all of the agent; false if there is none. */
  remove(owner: string, entryId: string, variable?: string): Promise<boolean>
  /** Replaces a credential that still has this sealed secret; false if it has changed. */
  replace(credential: StoredCredential, sealed: string): Promise<boolean>
  /** Removes a credential that still has its sealed secret; false if it has changed. */
  removeSame(credential: StoredCredential): Promise<boolean>
}
