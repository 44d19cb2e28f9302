import { z } from 'zod'
import { Deprecation } from './deprecation.ts'
import { Liveness } from './liveness.ts'
import { ContentFlag, SignatureStatus, Suspension } from './trust.ts'

export const State = z.enum(['STAGE', 'ACTIVE'])
export type State = z.infer<typeof State>

/** Earned, lowest first: nobody proved control; an owner without proof; name, manifest and domain agree. */
export const VerificationLevel = z.enum(['unclaimed', 'unverified', 'domain_verified'])
export type VerificationLevel = z.infer<typeof VerificationLevel>

/** Something an agent can do, as its card states it. */
export const Capability = z.object({
  name: z.string().min(1).max(200),
  description: z.string().max(4000),
  input_schema: z.record(z.string(), z.unknown()).optional(),
  read_only: z
    .boolean()
    .optional()
    .describe(
      'The agent says that it changes nothing: it may be repeated, and called to see whether it answers.',
    ),
})
export type Capability = z.infer<typeof Capability>

/** Where an agent answers. */
export const Endpoint = z.object({
  protocol: z.enum(['a2a', 'mcp', 'envelope']),
  url: z.url({ protocol: /^(https?|wss?)$/ }).max(2048),
  version: z.string().max(50).optional(),
  binding: z
    .string()
    .max(200)
    .optional()
    .describe('How the protocol is carried: JSONRPC or HTTP+JSON for A2A, streamable-http or sse for MCP.'),
  tenant: z.string().max(300).optional().describe('Which of several agents at one address, in A2A 1.0.'),
})
export type Endpoint = z.infer<typeof Endpoint>

/** How an agent is installed: npm, pypi, oci … and its identifier there. */
export const Package = z.object({
  registry_type: z.string().min(1).max(40),
  identifier: z.string().min(1).max(300),
  version: z.string().max(100).optional(),
})
export type Package = z.infer<typeof Package>

export const Owner = z.object({
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
  tags: z.array(z.string()),
  category: z.string().nullable(),
  target: z.string().nullable(),
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
