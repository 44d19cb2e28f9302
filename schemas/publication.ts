import { z } from 'zod'
import { publishedShape } from './entry-fields.ts'

/** The owner's statement about an agent. An absent field comes from the manifest, or is unchanged. */
export const Publication = z.strictObject(publishedShape).partial().meta({ id: 'Publication' })
export type Publication = z.infer<typeof Publication>

/** The number that `revision` had when the caller last read the entry. */
export const expectedRevision = z
  .int()
  .min(0)
  .optional()
  .describe('Fail unless the entry is still at this revision.')
/** The reference to an agent in every action. */
export const agentReference = z
  .string()
  .min(1)
  .max(220)
  .meta({ description: 'Package name, A2A address or id of the agent.', examples: ['svc.utility.wiki'] })

/** Which agent to read. */
export const AgentInput = z.strictObject({ agent: agentReference })
export type AgentInput = z.output<typeof AgentInput>

/** Which agent to change. */
export const Change = z.strictObject({ agent: agentReference, expected_revision: expectedRevision })
export type Change = z.output<typeof Change>

/** The result of an import. Line numbers count from 1. */
export const ImportReport = z.object({
  created: z.int(),
  updated: z.int(),
  unchanged: z.int(),
  rejected: z.array(z.object({ line: z.int(), reason: z.string() })),
  warnings: z
    .array(z.object({ line: z.int(), message: z.string() }))
    .describe('Lines that are listed, but not with all that they state.'),
})
export type ImportReport = z.infer<typeof ImportReport>

/** The fields that a new entry lacks. A manifest states what can be called. */
export function missingFields({
  manifest_url,
  capabilities,
  endpoints,
  packages,
  ...stated
}: { readonly [Name in keyof Publication]?: Publication[Name] | null }): string[] {
  const isEmpty = ![capabilities, endpoints, packages].some((list) => list?.length)
  return [
    ...(['package_name', 'name', 'description'] as const).filter((field) => stated[field] === undefined),
    ...(!manifest_url && isEmpty ? ['capabilities'] : []),
  ]
}
