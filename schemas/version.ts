import { z } from 'zod'

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
  })
  .meta({ id: 'AgentVersion' })

export const VersionPage = z
  .object({
    versions: z
      .array(AgentVersion)
      .describe(
        'Ordered by Semantic Versioning, the highest first; then versions without an order, the newest first.',
      ),
    next_cursor: z.string().nullable().describe('Null on the last page.'),
    total: z.int(),
  })
  .meta({ id: 'VersionPage' })
export type VersionPage = z.infer<typeof VersionPage>

/** The requested version; the current one if both fields are absent. */
export interface WantedVersion {
  /** A version as published, a semver range, or `latest`. */
  readonly version?: string | undefined
  readonly revision?: number | undefined
}
