import { z } from 'zod'
import { Confidence } from './brief.ts'
import { Callable } from './callable.ts'
import { Discovery } from './discovery.ts'
import { Entry } from './entry.ts'
import { Capability } from './entry-parts.ts'
import { Finding, ManifestReport, ReadingReport, SignatureReport, VerificationReport } from './trust.ts'

/** An agent card in the registry's own form, with the standard fields that do not collide. */
export const Card = z.looseObject({
  agent_id: z.string().describe('A2A address of the agent.'),
  name: z.string(),
  description: z.string(),
  capabilities: z.array(Capability),
})
export type Card = z.infer<typeof Card>

/** One agent in full. */
export const EntryDetail = Entry.extend({
  capabilities: z.array(Capability),
  card: z.looseObject({}),
  readme_url: z.string().nullable().describe('Where get_readme reads the README of the publisher.'),
  icon_url: z.string().nullable().describe('Where get_icon reads the icon of the publisher.'),
  verification: VerificationReport.nullable().describe('The proof behind the verification level.'),
  manifest: ManifestReport.nullable().describe('Only the owner and admins see its findings.'),
  reading: ReadingReport.nullable().describe(
    'What the registry read from the MCP server itself; only the owner and admins see its findings.',
  ),
  signature_report: SignatureReport.nullable(),
  warnings: z
    .array(Finding)
    .optional()
    .describe('In the answer to a publication or an update: what keeps the agent from being called.'),
}).meta({ id: 'Agent' })
export type EntryDetail = z.infer<typeof EntryDetail>

/** The reasons for the rank of an entry in a search. */
export const Match = z
  .object({
    terms: z.array(z.string()).describe('Words of the query found in the entry.'),
    capability: z.string().nullable().describe('The capability that fits best; null if none fits.'),
    similarity: z
      .number()
      .min(-1)
      .max(1)
      .nullable()
      .describe('Cosine similarity of meaning; null if the search was by words alone.'),
    scores: z.record(z.string(), z.number()).describe('Score by words and by meaning.'),
  })
  .meta({ id: 'Match' })
export type Match = z.infer<typeof Match>

/** An entry of another source that describes the same agent as a hit. */
const Alternative = z
  .object({
    package_name: z.string(),
    callable: Callable,
    source: z.string().nullable().describe('Name of the mirror; null for an agent of an imported file.'),
  })
  .meta({ id: 'Alternative' })
export type Alternative = z.infer<typeof Alternative>

export const SearchHit = Entry.extend({
  score: z.number().optional(),
  confidence: Confidence.optional(),
  match: Match.optional(),
  discovery: Discovery.optional(),
  alternatives: z
    .array(Alternative)
    .optional()
    .describe('Entries of other sources that describe the same agent.'),
}).meta({ id: 'SearchHit' })
export type SearchHit = z.infer<typeof SearchHit>

/** The A2A 1.0 card, or the card with the fields of 0.3 as well. */
export type StandardShape = '1.0' | 'any'
