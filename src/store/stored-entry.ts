import { z } from 'zod'
import { AccessReport } from '../../schemas/callable.ts'
import { Deprecation } from '../../schemas/deprecation.ts'
import { initialValues, storedShape } from '../../schemas/entry-fields.ts'
import { State, VerificationLevel } from '../../schemas/entry-parts.ts'
import { Origin } from '../../schemas/origin.ts'
import {
  ContentFlag,
  ManifestReport,
  ReadingReport,
  SignatureReport,
  Suspension,
  VerificationReport,
} from '../../schemas/trust.ts'

/** A stored proof, with the data that its next check needs. */
const StoredProof = VerificationReport.extend({
  /** SHA-256 of the card at the owner's last verification. */
  card_sha256: z.string().nullable(),
  /** For the method `mcp`: the proved key, and its signature. */
  public_key: z.string().optional(),
  signature: z.string().optional(),
})
export type StoredProof = z.infer<typeof StoredProof>

/** Fields that the registry manages, with their values in a new entry and in one that was stored without them. */
const managedShape = {
  /** The owner from whom the present owner took the entry over by a proof. */
  taken_from: z.object({ issuer: z.string(), subject: z.string() }).nullable().default(null),
  /** To whom the owner offers the entry. */
  offer: z.object({ issuer: z.string(), subject: z.string(), at: z.string() }).nullable().default(null),
  origin: Origin.nullable().default(null),
  /** The server.json as its publisher stated it; null: it is rendered from the other fields. */
  server: z.record(z.string(), z.unknown()).nullable().default(null),
  /** The fields that the owner stated, which override the manifest; null: all fields. */
  stated: z.array(z.string()).nullable().default(null),
  card_sha256: z.string().nullable().default(null),
  content_flags: z.array(ContentFlag).default([]),
  signature: SignatureReport.nullable().default(null),
  manifest: ManifestReport.nullable().default(null),
  /** What the registry read from the agent itself. */
  reading: ReadingReport.nullable().default(null),
  /** What the agent answered to callers without a credential; null: it was not asked. */
  access: AccessReport.nullable().default(null),
  proof: StoredProof.nullable().default(null),
  suspended: Suspension.nullable().default(null),
  deprecated: Deprecation.nullable().default(null),
  /** Time of the next check of manifest and proof; null: never. */
  check_at: z.string().nullable().default(null),
  /** Versions up to this revision belong to a deleted entry of the same name. */
  versions_after: z.int().default(0),
}

/** An entry as the database holds it. Our own URLs are null or relative, and are rendered when the entry is read. */
export const StoredEntry = z.object({
  ...storedShape,
  id: z.string(),
  state: State,
  verification_level: VerificationLevel,
  owner: z.object({ issuer: z.string(), subject: z.string(), namespace: z.string().nullable() }).nullable(),
  /** True for an agent that the gateway hosts and writes itself. */
  hosted: z.boolean(),
  source_url: z.string().nullable(),
  /** The card as its publisher wrote it, if the entry has one. */
  card: z.record(z.string(), z.unknown()).nullable(),
  ...managedShape,
  created_at: z.string(),
  updated_at: z.string(),
  deleted: z.boolean(),
  /** Set by the store at commit. */
  revision: z.int(),
})
export type StoredEntry = z.infer<typeof StoredEntry>

/** The values of a new entry in the fields that nobody states. */
export const initialEntry = {
  ...initialValues,
  ...z.object(managedShape).parse({}),
  deleted: false,
  revision: 0,
}

/** The row of this id does not hold a valid entry. */
export class UnreadableEntry extends Error {
  override readonly name = 'UnreadableEntry'

  constructor(id: string, cause: unknown) {
    super(`The stored entry ${id} cannot be read.`, { cause })
  }
}
