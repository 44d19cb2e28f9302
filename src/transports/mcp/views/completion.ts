import { z } from 'zod'
import { knownCategories } from '../../../../schemas/categories.ts'
import { Failure } from '../../../../schemas/failure.ts'
import { agentAliases } from '../../../../schemas/names.ts'
import type { AgentPage, NameCompletion } from '../../../../schemas/search.ts'
import { input } from '../../../../schemas/shape.ts'
import type { Exchange } from '../protocol-2026/protocol.ts'
import { type Ask, faultOf, invalidField } from './ask.ts'
import { promptNamed } from './prompts.ts'
import { template } from './resources.ts'
import type { McpViews } from './view.ts'

/** CompleteRequestParams of the specification's schema. */
const Params = z.object({
  ref: z.discriminatedUnion('type', [
    z.object({ type: z.literal('ref/prompt'), name: z.string() }),
    z.object({ type: z.literal('ref/resource'), uri: z.string() }),
  ]),
  argument: z.object({ name: z.string(), value: z.string() }),
  context: z.object({ arguments: z.record(z.string(), z.string()).optional() }).optional(),
})
type Params = z.infer<typeof Params>
const shape = input(Params)

type Complete = (value: string, ask: Ask, exchange: Exchange) => Promise<object>

const maxValues = 100

/** The arguments that can be completed; free text cannot. */
const completions: Readonly<Record<string, Complete>> = {
  agent: packageNames,
  package_name: packageNames,
  category: categories,
}

/** Completes package names and known categories from the listed agents. */
export function completionViews(ask: Ask): McpViews {
  return {
    'completion/complete': {
      async answer(params, exchange) {
        const { ref, argument } = parsed(params)
        if (!argumentsOf(ref).includes(argument.name))
          throw invalidField('/argument/name', 'This argument is unknown.')
        const complete = completions[argument.name]
        return { completion: complete ? await complete(argument.value, ask, exchange) : none }
      },
    },
  }
}

/** Throws Fault -32602. */
function parsed(params: unknown): Params {
  try {
    return shape.parse(params)
  } catch (thrown) {
    throw faultOf(Failure.from(thrown))
  }
}

const none = { values: [], total: 0, hasMore: false }

function argumentsOf(ref: Params['ref']): readonly string[] {
  if (ref.type === 'ref/prompt') {
    const names = promptNamed(ref.name).arguments.map(({ name }) => name)
    return names.includes('agent') ? [...names, ...agentAliases] : names
  }
  if (ref.uri === template) return ['package_name']
  throw invalidField('/ref/uri', `The only template is ${template}.`)
}

async function packageNames(prefix: string, ask: Ask, exchange: Exchange): Promise<object> {
  const found = (await ask('complete_name', { prefix, limit: maxValues }, exchange)) as NameCompletion
  const { names, total, more } = found
  return { values: names, ...(total !== null && { total }), hasMore: more }
}

async function categories(prefix: string, ask: Ask, exchange: Exchange): Promise<object> {
  const { facets } = (await ask('search_agents', { limit: 1, facets: true }, exchange)) as AgentPage
  const all = knownCategories(facets)
    .map(([name]) => name)
    .filter((name) => name.startsWith(prefix.toLowerCase()))
  return {
    values: all.toSorted().slice(0, maxValues),
    total: all.length,
    hasMore: all.length > maxValues,
  }
}
