import { styleText } from 'node:util'
import { filters } from '../../schemas/entry-fields.ts'
import { openClient } from './client.ts'
import { print } from './output.ts'

/** Finds agents by intent and prints them, best first. `options` are keyed by the option names in `entryFields`. */
export async function search(
  words: readonly string[],
  { limit, ...options }: Readonly<Record<string, unknown>>,
  json: boolean,
): Promise<void> {
  await using client = await openClient()
  const chosen = Object.values(filters).map(({ name, option }) => [
    name,
    option && options[optionName(option)],
  ])
  const query = words.join(' ')
  const params = {
    limit: Number(limit),
    filters: Object.fromEntries(chosen.filter(([, value]) => value !== undefined)),
    ...(query && { query }),
  }
  const found = await client.send({ to: 'svc.registry', action: 'search_agents', params })
  if (json) {
    print(found)
    return
  }
  const { agents, total } = found as unknown as {
    agents: { package_name: string; description: string }[]
    total: number
  }
  for (const { package_name, description } of agents) {
    print(`${styleText('bold', package_name)}\n  ${description.replaceAll(/\s+/g, ' ').slice(0, 160)}`)
  }
  print(`${agents.length} of ${total}`)
}

/** The name under which commander hands an option over: `--tag <tag...>` gives `tag`. */
function optionName([flags]: readonly [string, string]): string {
  return /^--(\w+)/.exec(flags)?.[1] ?? flags
}
