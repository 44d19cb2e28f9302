import { z } from 'zod'
import { Deprecation } from './deprecation.ts'
import { listedShape } from './entry-fields.ts'
import { Endpoint, Package, State, VerificationLevel } from './entry-parts.ts'
import { Liveness } from './liveness.ts'
import { ContentFlag, SignatureStatus, Suspension } from './trust.ts'

const Owner = z.object({
  namespace: z.string().nullable(),
  issuer: z.string().optional().describe('Shown to the owner and to admins only.'),
  subject: z.string().optional().describe('Shown to the owner and to admins only.'),
})

/** What a list shows of a listed agent. Times are RFC 3339. */
export const Entry = z.object({
  id: z.uuid().describe('UUIDv7; never changes.'),
  package_name: z.string(),
  name: z.string(),
  description: z.string(),
  verification_level: VerificationLevel,
  manifest_url: z.url().describe("Where the agent's card is."),
  ...listedShape,
  state: State,
  version: z.string().nullable(),
  owner: Owner.nullable(),
  endpoints: z.array(Endpoint),
  packages: z.array(Package),
  source_url: z.string().nullable().describe('Source of an imported entry, or its repository.'),
  content_flags: z
    .array(ContentFlag)
    .describe('Warnings for language models about the texts, which are shown as their publisher wrote them.'),
  signature: SignatureStatus.describe("Status of the signature on the agent's own card."),
  card_sha256: z
    .string()
    .nullable()
    .describe('SHA-256 of the card as last read at its manifest URL, in hex.'),
  changed_since_verified: z.boolean().describe('The card has changed since it was verified.'),
  suspended: Suspension.nullable().describe('Shown to the owner and to admins only; hidden from all others.'),
  deprecated: Deprecation.nullable().describe(
    'Set where the agent should not get new users; it still answers.',
  ),
  liveness: Liveness.describe('Whether the agent answered when it was last probed.'),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  revision: z.int().describe('Number of the registry change that last touched this entry.'),
})
export type Entry = z.infer<typeof Entry>
