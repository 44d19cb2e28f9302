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

/** The credential that the gateway sends to one agent on behalf of one caller. */
export const CredentialInput = z.strictObject({
  agent: agentReference,
  header: z
    .string()
    .toLowerCase()
    .regex(headerName, 'A header field is letters, digits and dashes.')
    .refine((name) => !notOurs.test(name), 'This header field is not a credential.')
    .default('authorization')
    .describe('Header field that carries the credential.'),
  value: z
    .string()
    .regex(headerValue, 'This must be visible ASCII.')
    .describe('The whole value of that field, such as `Bearer TOKEN`. It is never returned.'),
})
export type CredentialInput = z.output<typeof CredentialInput>

/** A credential without its value. Times are RFC 3339. */
export const Credential = z
  .object({
    agent: z.string().describe('Package name of the agent.'),
    header: z.string(),
    origin: z
      .string()
      .describe(
        'The only origin to which the gateway sends the credential, even if the agent’s card changes.',
      ),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'Credential' })
export type Credential = z.infer<typeof Credential>

/** The credential of one caller for one agent, sealed. Times are RFC 3339. */
export interface StoredCredential {
  /** [issuer, subject] as JSON. */
  readonly owner: string
  readonly entry_id: string
  readonly origin: string
  readonly header: string
  readonly sealed: string
  readonly created_at: string
}

/** Credentials for other agents, one for each caller and entry. */
export interface CredentialStore {
  find(owner: string, entryId: string): Promise<StoredCredential | undefined>
  list(owner: string): Promise<readonly StoredCredential[]>
  /** Adds or replaces a credential; false if its owner has `max` others. */
  put(credential: StoredCredential, max: number): Promise<boolean>
  /** False if the credential does not exist. */
  remove(owner: string, entryId: string): Promise<boolean>
}
