import { z } from 'zod'
import { shortened } from './brief.ts'
import type { Capability } from './entry-parts.ts'
import { isRecord } from './json.ts'

/** What catalogs of agents show for finding an agent. */
export const Discovery = z
  .object({
    capabilities: z.array(z.string()).describe('Names of its capabilities.'),
    queries: z
      .array(z.string())
      .describe(
        'Two to five requests that it serves: the examples of its card, else made from its capabilities.',
      ),
  })
  .meta({ id: 'Discovery' })
export type Discovery = z.infer<typeof Discovery>

interface Described {
  readonly name: string
  readonly description: string
  readonly capabilities: readonly Capability[]
  readonly card: Readonly<Record<string, unknown>> | null
}

const maxNames = 50
const minQueries = 2
const maxQueries = 5
const maxQuery = 120

/** Two to five queries and the names of capabilities, all of bounded length. */
export function discoveryOf({ name, description, capabilities, card }: Described): Discovery {
  const stated = examplesIn(card)
  const made = [...capabilities.map(queryOf), firstSentence(description), `What can ${name} do?`, name]
  const queries = [...new Set([...stated, ...(stated.length < minQueries ? made : [])].map(shortQuery))]
  return {
    capabilities: capabilities.slice(0, maxNames).map((capability) => capability.name),
    queries: queries.filter(Boolean).slice(0, maxQueries),
  }
}

/** The examples of the skills of an A2A card. */
function examplesIn(card: Described['card']): string[] {
  const skills = Array.isArray(card?.skills) ? card.skills.filter(isRecord) : []
  const examples = skills.flatMap((skill) => (Array.isArray(skill.examples) ? skill.examples : []))
  return examples.filter((example) => typeof example === 'string').slice(0, maxQueries)
}

function queryOf({ name, title, description }: Capability): string {
  return firstSentence(description) || title || name.replaceAll(/[_.-]+/g, ' ')
}

function firstSentence(text: string): string {
  return /^.*?[.!?](?=\s|$)/s.exec(text.slice(0, 1000))?.[0] ?? text
}

function shortQuery(text: string): string {
  return shortened(text, maxQuery)
}
