import { type Action, defineAction } from '../../schemas/action.ts'
import {
  AnyAgentPage,
  BriefAgentPage,
  IntentInput,
  SearchInput,
  ToolSearchInput,
} from '../../schemas/search.ts'
import { input, output } from '../../schemas/shape.ts'
import { createKeyedSemaphore } from '../../src/common/semaphore.ts'
import type { PackagesPort, RegistryPort } from './port.ts'

/**
 * Concurrent searches of one caller; further ones wait. A caller cannot fill the queue of the embedder, which refuses
 * the texts of all callers when it is full.
 */
const maxConcurrent = 8

type Approved = Pick<PackagesPort, 'approved'>

const tool = {
  description:
    'Finds software agents for a task that your own tools cannot do. A hit shows what call_agent needs: package_name, and actions with their input. Example: {"query": "convert a PDF to text"}.',
  input: input(ToolSearchInput),
  output: output(BriefAgentPage),
  defaults: { detail: 'brief' },
  asks: {
    for: ['query', 'filters', 'sort', 'cursor'],
    text: 'Say what the agent should do, in a few plain words, such as {"query": "convert a PDF to text"}.',
  },
} as const

export function searchAgents(registry: RegistryPort, packages: Approved): Action<SearchInput, AnyAgentPage> {
  const acquire = createKeyedSemaphore(maxConcurrent)
  return defineAction({
    name: 'search_agents',
    title: 'Search agents',
    description:
      'Finds agents from natural-language intent. Without a query it lists agents. Answers with each agent’s package name, description, verification level and the URL of its card.',
    input: input(SearchInput),
    output: output(AnyAgentPage),
    access: 'public',
    effect: 'read',
    advertised: true,
    tool,
    hasForeign: ({ others = [] }) => others.length > 0,
    async run({ detail, federation, ...query }, { principal, counted_as = '', signal }) {
      using _slot = await acquire(counted_as, signal)
      const find = async (limit: number): Promise<AnyAgentPage> =>
        detail === 'brief'
          ? await registry.searchBrief({ ...query, limit }, principal, signal, await packages.approved())
          : await registry.search({ ...query, limit }, principal, signal)
      const found = await registry.federate(query, federation, find, signal)
      const isLittle = found.agents.length === 0 || found.notice !== undefined
      if (query.query !== undefined && isLittle) {
        registry.noteUnmet(query.query, counted_as, found.agents.length === 0 ? 'nothing' : 'little')
      }
      return found
    },
  })
}

/** The same search for callers that must state an intent. */
export function search(registry: RegistryPort, packages: Approved): Action<SearchInput, AnyAgentPage> {
  return defineAction({
    ...searchAgents(registry, packages),
    name: 'search',
    aliases: ['discover'],
    input: input(IntentInput),
    advertised: false,
  })
}
