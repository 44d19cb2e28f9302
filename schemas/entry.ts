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
  id: z.uuid().describe('UUIDv7; stable for ever.'),
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
  source_url: z.string().nullable().describe('Where an imported entry was taken from, or its repository.'),
  content_flags: z
    .array(ContentFlag)
    .describe(
      'What a language model should be wary of in the texts; they are as their publisher wrote them.',
    ),
  signature: SignatureStatus.describe("Of the agent's own card."),
  card_sha256: z.string().nullable().describe('Of the card as it was last read at its manifest URL, in hex.'),
  changed_since_verified: z.boolean().describe('The card is no longer the one that was verified.'),
  suspended: Suspension.nullable().describe('Shown to the owner and to admins only; hidden from all others.'),
  deprecated: Deprecation.nullable().describe('Nobody should begin to use it; it still answers.'),
  liveness: Liveness.describe('Whether the agent answers, as the gateway last saw it.'),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  revision: z.int().describe('Number of the registry change that last touched this entry.'),
})
export type Entry = z.infer<typeof Entry>
