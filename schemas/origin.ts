import { z } from 'zod'
import { MirrorKind } from './mirror.ts'

/** The registry or list from which an entry was mirrored, and the name that the agent has there. */
export const Origin = z
  .object({
    source: z.string().describe('Name of the mirror, or import for a file.'),
    kind: MirrorKind.describe('What the source is.'),
    url: z.string().describe('Address of the registry or list; empty for a file.'),
    name: z.string().describe('Exact name of the agent there.'),
    license: z.string().nullable().describe('Licence of the texts, as the source states it.'),
    attribution: z.string().nullable().describe('Whom to name when the texts are used.'),
    takedown: z.string().nullable().describe('Address for requests to remove an agent.'),
    removed: z.boolean().describe('The source has removed the agent, so it is hidden here.'),
  })
  .meta({ id: 'Origin' })
export type Origin = z.infer<typeof Origin>
