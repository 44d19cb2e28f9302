import { z } from 'zod'
import { Callable } from './callable.ts'
import { Deprecation } from './deprecation.ts'
import { listedShape } from './entry-fields.ts'
import { Endpoint, Protocol, State, VerificationLevel } from './entry-parts.ts'
import { Liveness } from './liveness.ts'
import { Origin } from './origin.ts'
import { Package } from './package.ts'
import { ContentFlag, SignatureStatus, Suspension } from './trust.ts'

const Owner = z
  .object({
    namespace: z.string().nullable(),
    issuer: z.string().optional().describe('Only the owner and admins see this.'),
    subject: z.string().optional().describe('Only the owner and admins see this.'),
  })
  .meta({ id: 'Owner' })

/** A listed agent in a list. Times are RFC 3339. */
export const Entry = z
  .object({
    id: z.uuid().describe('UUIDv7; never changes.'),
    package_name: z.string(),
    name: z.string(),
    description: z.string(),
    verification_level: VerificationLevel,
    verified_domain: z
      .string()
      .nullable()
      .describe('The proved domain of an agent that is domain_verified; null for all others.'),
    protocol: Protocol.nullable().describe(
      'The protocol by which the agent is called, or for which its packages are; null if nothing says it.',
    ),
    manifest_url: z.url().describe("URL of the agent's card."),
    ...listedShape,
    state: State,
    version: z.string().nullable(),
    owner: Owner.nullable(),
    endpoints: z.array(Endpoint),
    packages: z.array(Package),
    source_url: z.string().nullable().describe('Source of an imported entry, or its repository.'),
    origin: Origin.nullable().describe(
      'Where the entry was mirrored from; null for one that was published here.',
    ),
    content_flags: z
      .array(ContentFlag)
      .describe('Warnings for language models about the texts, which are unchanged texts of the publisher.'),
    signature: SignatureStatus.describe("Status of the signature on the agent's own card."),
    card_sha256: z
      .string()
      .nullable()
      .describe('SHA-256 of the card as last read at its manifest URL, in hex.'),
    changed_since_verified: z.boolean().describe('The card has changed since it was verified.'),
    suspended: Suspension.nullable().describe(
      'Only the owner and admins see this; the entry is hidden from all others.',
    ),
    deprecated: Deprecation.nullable().describe(
      'Present if the agent should not get new users; it still answers.',
    ),
    callable: Callable.describe('Whether the agent can be called through this gateway.'),
    callable_reason: z.string().describe('Why, and what a caller needs.'),
    credential_stored: z
      .boolean()
      .optional()
      .describe('For an agent that asks for a credential: whether you have stored one for it.'),
    liveness: Liveness.describe('Whether the agent answered the last probe.'),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    revision: z.int().describe('Number of the last registry change of this entry.'),
  })
  .meta({ id: 'AgentSummary' })
export type Entry = z.infer<typeof Entry>
