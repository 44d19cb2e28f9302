import { z } from 'zod'
import { nextCursor } from './paging.ts'

/** One version of an agent: its public content from one revision on. A version is immutable. */
const AgentVersion = z
  .object({
    version: z
      .string()
      .nullable()
      .describe('Version as stated by the publisher; null if the publisher states none.'),
    revision: z.int().describe('Revision that published it; it identifies every version.'),
    published_at: z.iso.datetime(),
    sha256: z.string().describe('SHA-256 of the content, in hex: equal content has equal digests.'),
    current: z.boolean().describe('Whether it is the listed version.'),
    changed: z
      .array(z.string())
      .nullable()
      .optional()
      .describe(
        'Fields that differ from the version published before it, where `changes` asks for them; null for the first one, and where the text of either is no longer kept.',
      ),
  })
  .meta({ id: 'AgentVersion' })

export const VersionPage = z
  .object({
    versions: z
      .array(AgentVersion)
      .describe(
        'Ordered by Semantic Versioning, the highest first; then versions without an order, the newest first.',
      ),
    next_cursor: nextCursor,
    total: z.int(),
  })
  .meta({ id: 'VersionPage' })
export type VersionPage = z.infer<typeof VersionPage>

/** A member of a card that two versions do not share. */
export const Difference = z
  .object({
    field: z
      .string()
      .describe('Path of the member; a member of a list of named things has its name in the path.'),
    before: z.unknown().describe('Null if the earlier version lacks it.'),
    after: z.unknown().describe('Null if the later version lacks it.'),
  })
  .meta({ id: 'Difference' })
export type Difference = z.infer<typeof Difference>

/** What differs between two versions of an agent. */
export const VersionDiff = z
  .object({
    package_name: z.string(),
    from: z.string(),
    to: z.string(),
    differences: z.array(Difference),
  })
  .meta({ id: 'VersionDiff' })
export type VersionDiff = z.infer<typeof VersionDiff>

/** The requested version; the current one if both fields are absent. */
export interface WantedVersion {
  /** A version as published, a semver range, or `latest`. */
  readonly version?: string | undefined
  readonly revision?: number | undefined
}
