import { Option } from 'commander'
import type { SearchHit } from '../../schemas/card.ts'
import { counted } from '../../schemas/counted.ts'
import { filters } from '../../schemas/entry-fields.ts'
import type { JsonObject } from '../../schemas/json.ts'
import { fewAgents } from '../../schemas/search.ts'
import { readNumber } from './input.ts'
import { agentColumns, agentRow } from './list.ts'
import { print, printTable, say } from './output.ts'
import { searchPublic } from './send.ts'

/** Finds agents by intent and prints them, best first. `options` are keyed by the option names in `entryFields`. */
export async function search(
  words: readonly string[],
  { limit, exact, ...options }: Readonly<Record<string, unknown>>,
  json: boolean,
): Promise<void> {
  const chosen = Object.values(filters).map(({ name, option }) => [
    name,
    option && options[new Option(...option).attributeName()],
  ])
  const query = words.join(' ')
  const params = {
    limit: readNumber('--limit', String(limit), 1, 100),
    filters: Object.fromEntries(chosen.filter(([, value]) => value !== undefined)),
    ...(query && { query }),
    ...(exact === true && { exact }),
  }
  const found = await searchPublic(params as JsonObject)
  if (json) return print(found)
  const { agents, total, notice, degraded, corrected = [] } = found
  await printTable(
    [...agentColumns.filter(({ title }) => title !== 'STATE'), ...(query ? [{ title: 'FITS' }] : [])],
    agents.map((agent) => [
      ...agentRow(agent).toSpliced(1, 1).with(-1, described(agent)),
      ...(query ? [percent(agent.confidence)] : []),
    ]),
  )
  say(`${agents.length} of ${total}`)
  if (total === 0 && Object.keys(params.filters).length === 0) await sayIfFew()
  if (corrected.length > 0) {
    const changes = corrected.map(({ from, to }) => `"${to}" instead of "${from}"`).join(', ')
    say(`Shown for ${changes}. To search for the exact words: --exact`)
  }
  if (notice !== undefined) say(notice)
  if (degraded !== undefined) say(degraded)
  const [first] = agents
  if (first)
    say(
      `To see the actions of an agent: dragoman resolve ${first.package_name}. To call one: dragoman call NAME ACTION PARAMS`,
    )
}

/** What an agent does, without a column for the state that nearly all have. */
function described({ deprecated, description }: SearchHit): string {
  return deprecated ? `Deprecated. ${description}` : description
}

/** A new registry finds little because it lists little. */
async function sayIfFew(): Promise<void> {
  const { total } = await searchPublic({ limit: 1 })
  if (total >= fewAgents) return
  // Whether there is one already takes the whole gateway to know.
  const more =
    'To list those of the official MCP registry: dragoman mirror add official; how mirrors are: dragoman mirror list'
  say(`Only ${counted(total, 'agent')} ${total === 1 ? 'is' : 'are'} listed. ${more}`)
}

function percent(confidence: number | undefined): string {
  return confidence === undefined ? '' : `${Math.round(100 * confidence)} %`
}
