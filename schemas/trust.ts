import { z } from 'zod'

/**
 * The result of checking the signatures on an agent's card. `untrusted_key`: signed, but not by a key of a verified
 * domain.
 */
export const SignatureStatus = z
  .enum(['none', 'valid', 'invalid', 'untrusted_key'])
  .meta({ id: 'SignatureStatus' })
export type SignatureStatus = z.infer<typeof SignatureStatus>

/** Warnings about a text for its readers, above all language models. */
export const ContentFlag = z
  .enum([
    'overrides_instructions',
    'conceals_from_user',
    'asks_for_secrets',
    'steers_tool_choice',
    'imitates_markup',
    'imitates_name',
  ])
  .meta({ id: 'ContentFlag' })
export type ContentFlag = z.infer<typeof ContentFlag>

const ProofMethod = z.enum(['dns', 'http', 'mcp']).meta({ id: 'ProofMethod' })

/** A finding about an agent for its owner. `field` is a JSON Pointer into the checked document. */
export const Finding = z
  .object({
    severity: z.enum(['error', 'warning', 'info']),
    code: z.string().describe('Stable name of the rule.'),
    field: z.string(),
    message: z.string(),
    suggestion: z.string().nullable(),
  })
  .meta({ id: 'Finding' })
export type Finding = z.infer<typeof Finding>

const time = z.iso.datetime()

/** The result of the last reading of the card at the manifest URL. */
export const ManifestReport = z
  .object({
    status: z.enum(['ok', 'unreachable', 'invalid']),
    checked_at: time,
    detail: z.string().nullable().describe('The reason if the status is not ok.'),
    findings: z.array(Finding),
  })
  .meta({ id: 'ManifestReport' })
export type ManifestReport = z.infer<typeof ManifestReport>

/**
 * The result of the last reading of what an MCP server states about itself. `refused`: it asks for a credential, which
 * the gateway does not have for itself.
 */
export const ReadingReport = ManifestReport.extend({
  status: z.enum(['ok', 'refused', 'unreachable', 'invalid']),
  lists: z.boolean().describe('Whether the capabilities of the entry are those that the server lists.'),
  changes: z.int().describe('Readings in a row that found another list.'),
  package_version: z
    .string()
    .optional()
    .describe('The version of its package that listed them, for an agent that is a package.'),
}).meta({ id: 'ReadingReport' })
export type ReadingReport = z.infer<typeof ReadingReport>

/** How a domain was proved, and the results of later checks. */
export const VerificationReport = z
  .object({
    method: ProofMethod,
    domain: z.string(),
    proved_at: time.describe('Time of the first proof.'),
    checked_at: time.describe('Time of the last check of the proof.'),
    failures: z.int().describe('Failed checks in a row.'),
    failing_since: time.nullable(),
    detail: z.string().nullable().describe('The reason why the last check failed.'),
  })
  .meta({ id: 'VerificationReport' })
export type VerificationReport = z.infer<typeof VerificationReport>

export const SignatureReport = z
  .object({
    status: SignatureStatus,
    key_id: z.string().optional(),
    covers_all: z.boolean().optional().describe('False if the card has members that no signature covers.'),
    unsigned: z.array(z.string()).optional().describe('JSON Pointers of such members.'),
    detail: z.string(),
  })
  .meta({ id: 'SignatureReport' })
export type SignatureReport = z.infer<typeof SignatureReport>

/** A suspension: an admin hides the entry from every public view. */
export const Suspension = z.object({ reason: z.string(), at: time }).meta({ id: 'Suspension' })
export type Suspension = z.infer<typeof Suspension>

/** An owner or another caller: an (issuer, subject) pair. */
export const Party = z.object({ issuer: z.string(), subject: z.string() }).meta({ id: 'Party' })
export type Party = z.infer<typeof Party>

/** The actor of an event; null for the gateway itself. */
export const Actor = Party.nullable()
export type Actor = z.infer<typeof Actor>

const TxtRecord = z
  .object({ name: z.string(), type: z.literal('TXT'), value: z.string() })
  .meta({ id: 'TxtRecord' })

/** The records that an owner may publish to prove a domain; one of the three is enough. */
const Challenges = z
  .object({
    dns: z.object({ record: TxtRecord, alternatives: z.array(TxtRecord) }),
    http: z.object({ url: z.string(), line: z.string() }),
    mcp: z.object({ record: TxtRecord, url: z.string(), sign: z.string() }),
  })
  .meta({ id: 'Challenges' })

const Attempt = z
  .object({ method: ProofMethod, ok: z.boolean(), detail: z.string() })
  .meta({ id: 'ProofAttempt' })

/** The result of an attempt to prove a domain. */
export const VerificationOutcome = z
  .object({
    package_name: z.string(),
    verified: z.boolean(),
    verification_level: z.string(),
    domain: z.string().nullable().describe('The domain on which the name and the manifest agree.'),
    reason: z.string().nullable().describe('The reason why the agent is not verified.'),
    challenges: Challenges.nullable().describe('The records to publish before the next attempt.'),
    attempts: z.array(Attempt),
  })
  .meta({ id: 'VerificationOutcome' })
export type VerificationOutcome = z.infer<typeof VerificationOutcome>

/** The caller's choice of the domain and the method of proof. */
export const ProofRequest = z.strictObject({
  domain: z
    .string()
    .min(1)
    .max(253)
    .optional()
    .describe('The domain to prove; the longest one that the name allows when absent.'),
  method: ProofMethod.optional().describe('The method of proof; all methods when absent.'),
  signature: z
    .string()
    .max(200)
    .optional()
    .describe(
      'For mcp: the signature by the Ed25519 key of the record, over the text in challenges.mcp.sign; base64 or hex.',
    ),
})
export type ProofRequest = z.infer<typeof ProofRequest>
