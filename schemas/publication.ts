import { z } from 'zod'
import { Capability, Endpoint, Package } from './entry.ts'
import { notBlank, PackageName, Slug, Tag } from './names.ts'
import { mixesScripts, visible } from './text.ts'

const maxCapabilityText = 200_000

const Capabilities = z
  .array(visible(Capability.strict()))
  .max(200)
  .refine((all) => textLength(all) <= maxCapabilityText, {
    error: `At most ${maxCapabilityText} characters of names and descriptions in all.`,
  })

function textLength(capabilities: readonly Capability[]): number {
  return capabilities.reduce((sum, { name, description }) => sum + name.length + description.length, 0)
}

const url = visible(z.url({ protocol: /^https?$/ }).max(2048))

const facts = {
  package_name: PackageName,
  manifest_url: url.describe("Where the agent's own card is."),
  name: visible(z.string().trim().min(1).max(200))
    .refine((name) => !mixesScripts(name), {
      error: 'One word mixes letters of scripts that look alike. Write it in one script.',
    })
    .meta(notBlank),
  description: visible(z.string().trim().min(1).max(4000)).meta(notBlank),
  capabilities: Capabilities,
  endpoints: z.array(visible(Endpoint.strict())).max(20),
  packages: z.array(visible(Package.strict())).max(20),
  tags: z.array(visible(Tag)).max(50),
  category: Slug.nullable(),
  target: Slug.nullable(),
  version: visible(z.string().min(1).max(100)).nullable(),
}

/** What an owner states of an agent. What is left out comes from the manifest, or stays as it is. */
export const Publication = z.strictObject(facts).partial()
export type Publication = z.infer<typeof Publication>

/** The number that `revision` had when the caller last read the entry. */
export const expectedRevision = z
  .int()
  .min(0)
  .optional()
  .describe('Fail unless the entry is still at this revision.')
/** How every action names an agent. */
export const agentReference = z
  .string()
  .min(1)
  .max(220)
  .meta({ description: 'Package name, A2A address or id of the agent.', examples: ['svc.utility.wiki'] })

export interface Change {
  readonly agent: string
  readonly expected_revision?: number | undefined
}
