import type { Agent } from '../../schemas/action.ts'
import type { EntryDetail } from '../../schemas/card.ts'
import { Failure } from '../../schemas/failure.ts'

/** Hosted agents answer; a listed one is named with where it answers, until it can be called from here. */
export function createResolve(
  hosted: readonly Agent[],
  get: (name: string, caller: null) => Promise<EntryDetail>,
): (to: string) => Promise<Agent> {
  const agents = new Map(hosted.map((agent) => [agent.package_name, agent]))
  return async (to) => {
    const known = agents.get(to)
    if (known) return known
    const entry = await get(to, null)
    const byId = agents.get(entry.package_name)
    if (byId) return byId
    throw new Failure('not_callable', `${entry.package_name} is listed here but not hosted.`, {
      hint: 'Read its card and call it at one of its endpoints.',
      manifest_url: entry.manifest_url,
      endpoints: entry.endpoints,
    })
  }
}
