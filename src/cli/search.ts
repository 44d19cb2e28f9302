import { styleText } from 'node:util'
import { openClient } from './client.ts'
import { print } from './output.ts'

interface Options {
  readonly limit: string
  readonly target?: string
  readonly category?: string
  readonly tag?: string[]
  readonly live?: true
}

/** Finds agents by intent and prints them, best first. */
export async function search(words: readonly string[], options: Options, json: boolean): Promise<void> {
  await using client = await openClient()
  const { limit, target, category, tag, live } = options
  const filters = {
    ...(target && { target }),
    ...(category && { category }),
    ...(tag && { tags: tag }),
    ...(live && { live }),
  }
  const query = words.join(' ')
  const params = { limit: Number(limit), filters, ...(query && { query }) }
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
