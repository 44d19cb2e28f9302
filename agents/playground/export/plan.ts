import type { Agent } from '../../../schemas/action.ts'
import { packageNameOf, toolName } from '../../../schemas/names.ts'
import type { Step } from '../../../schemas/playground.ts'

/** One call to repeat. */
export interface Planned {
  readonly number: number
  readonly envelope: Step['envelope']
  /** The credential of the call: none, a token, or a playground session, which then determines its rights. */
  readonly as: 'anybody' | 'token' | 'session'
  /** The equivalent MCP tool. */
  readonly tool?: string
}

export interface ExportPlan {
  readonly session: string
  readonly base_url: string
  readonly calls: readonly Planned[]
}

/** The calls of a session, each with the least rights that suffice to repeat it. */
export function planOf(
  session: string,
  steps: readonly Step[],
  { agents, base_url }: { readonly agents: () => readonly Agent[]; readonly base_url: () => string },
): ExportPlan {
  const hosted = new Map(agents().map((agent) => [agent.package_name, agent]))
  return { session, base_url: base_url(), calls: steps.map((step) => planned(step, hosted)) }
}

function planned({ number, kind, by, envelope }: Step, hosted: ReadonlyMap<string, Agent>): Planned {
  const agent = hosted.get(packageNameOf(envelope.to))
  const action = agent?.actions.find(
    ({ name, aliases }) => name === envelope.action || aliases?.includes(envelope.action),
  )
  const as = by === 'token' ? 'token' : action?.access === 'public' ? 'anybody' : 'session'
  // A tool with defaults of its own would answer in another form.
  const isSame = action?.advertised && !action.tool?.defaults
  const own = agent && isSame ? toolName(agent.package_name, action.name) : undefined
  const tool = kind === 'discover' ? 'search_agents' : own
  return { number, envelope, as, ...(tool !== undefined && { tool }) }
}

/** The request to the playground session for such a call. */
export function executionOf({ to, action, params }: Step['envelope']): object {
  return { agent: to, capability: action, input: params }
}
