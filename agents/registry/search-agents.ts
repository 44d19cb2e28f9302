import { type Action, defineAction } from '../../schemas/action.ts'
import { IntentInput, SearchInput, SearchOutput } from '../../schemas/search.ts'
import { input, output } from '../../schemas/shape.ts'
import type { RegistryPort } from './port.ts'

export function searchAgents(registry: RegistryPort): Action<SearchInput, SearchOutput> {
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
    run: (query, { principal, signal }) => registry.search(query, principal, signal),
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
