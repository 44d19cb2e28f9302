import type { Agent } from '../../../schemas/action.ts'
import type { EntryDetail } from '../../../schemas/card.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { assertNotSuspended } from '../entry/permissions.ts'

/**
 * Resolves hosted agents first, then a listed entry as the agent that it describes. Only ACTIVE entries are called. An
 * owner gets a specific error for an entry in STAGE and for a suspended one; others get `not_found`.
 */
export function createResolve(
  hosted: readonly Agent[],
  get: (name: string, caller: Principal | null) => Promise<EntryDetail>,
  agentOf: (entry: EntryDetail) => Agent,
): (to: string, call: { readonly principal: Principal | null }) => Agent | Promise<Agent> {
  const agents = new Map(hosted.map((agent) => [agent.package_name, agent]))

  async function notFound(to: string, caller: Principal | null, thrown: unknown): Promise<never> {
    if (caller === null || Failure.from(thrown).code !== 'not_found') throw thrown
    const own = await get(to, caller).catch(() => undefined)
    if (!own) throw thrown
    assertNotSuspended(own)
    throw new Failure('wrong_state', `${own.package_name} cannot be called while it is not ACTIVE.`, {
      hint: 'Take it live first.',
    })
  }

  async function described(to: string, principal: Principal | null): Promise<Agent> {
    const entry = await get(to, null).catch((thrown) => notFound(to, principal, thrown))
    const agent = agents.get(entry.package_name) ?? agentOf(entry)
    return entry.deprecated ? { ...agent, deprecated: entry.deprecated } : agent
  }

  return (to, { principal }) => agents.get(to) ?? described(to, principal)
}
