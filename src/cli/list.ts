import type { SearchHit } from '../../schemas/card.ts'
import { Failure } from '../../schemas/failure.ts'
import type { AgentPage } from '../../schemas/search.ts'
import { readNumber } from './input.ts'
import { bold, coloured, print, printTable, say } from './output.ts'
import { readPages } from './pages.ts'
import type { Column } from './table.ts'

interface ListOptions {
  readonly mine?: boolean
  readonly state?: string
  readonly limit: string
  readonly sort: string
}

/** Columns of a table of agents. */
export const agentColumns: readonly Column[] = [
  { title: 'NAME', style: bold, share: 0.6 },
  { title: 'STATE', style: coloured, dropped: 4 },
  { title: 'LEVEL', style: coloured, dropped: 3 },
  { title: 'CALLABLE', style: coloured, dropped: 1 },
  { title: 'LIVENESS', style: coloured, dropped: 2 },
  { title: 'DESCRIPTION', elastic: true, dropped: 5 },
]

export function agentRow(agent: SearchHit): string[] {
  const { package_name, state, verification_level, callable, liveness, description } = agent
  const shown = agent.suspended ? 'suspended' : agent.deprecated ? 'deprecated' : state
  return [package_name, shown, verification_level, callable, liveness?.status ?? '', description]
}

/** Lists agents in the order of their names, page by page up to the limit. */
export async function list(options: ListOptions, json: boolean): Promise<void> {
  const { mine = false, state, sort } = options
  if (state !== undefined && !mine) {
    throw new Failure(
      'invalid_request',
      '--state needs --mine: all agents of others that you see are ACTIVE.',
    )
  }
  const limit = readNumber('--limit', options.limit, 1, 10_000)
  const filters = { ...(mine && { mine }), ...(state !== undefined && { state: state.toUpperCase() }) }
  const { items: agents, last } = await readPages<AgentPage, SearchHit>(
    { action: 'search_agents', params: { sort, filters }, limit },
    (page) => page.agents,
  )
  const { total, next_cursor } = last
  if (json) return print({ agents, total, next_cursor })
  await printTable(agentColumns, agents.map(agentRow))
  say(`${agents.length} of ${total}`)
  if (total === 0 && mine) say('To publish an agent: dragoman init, then dragoman publish agent.json')
}
