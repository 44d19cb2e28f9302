import { type Action, defineAction } from '../../schemas/action.ts'
import { IntentInput, SearchInput, SearchOutput } from '../../schemas/search.ts'
import { input, output } from '../../schemas/shape.ts'
import { createKeyedSemaphore } from '../../src/common/keyed-semaphore.ts'
import type { RegistryPort } from './port.ts'

/**
 * Concurrent searches of one caller; further ones wait. A caller cannot fill the queue of the embedder, which refuses
 * the texts of all callers when it is full.
 */
const maxConcurrent = 8

export function searchAgents(registry: RegistryPort): Action<SearchInput, SearchOutput> {
  const acquire = createKeyedSemaphore(maxConcurrent)
  return defineAction({
    name: 'search_agents',
    title: 'Search agents',
    description:
      'Finds agents from natural-language intent. Without a query it lists agents. Answers with each agent’s package name, description, verification level and the URL of its card.',
    input: input(SearchInput),
    output: output(SearchOutput),
    access: 'public',
    effect: 'read',
    advertised: true,
    async run(query, { principal, counted_as = '', signal }) {
      using _slot = await acquire(counted_as, signal)
      return await registry.search(query, principal, signal)
    },
  })
}

/** The same search for callers that must state an intent. */
export function search(registry: RegistryPort): Action<SearchInput, SearchOutput> {
  return defineAction({
    ...searchAgents(registry),
    name: 'search',
    aliases: ['discover'],
    input: input(IntentInput),
    advertised: false,
  })
}
