import { Failure } from '../../../../schemas/failure.ts'
import { isRecord } from '../../../../schemas/json.ts'
import { packageNameOf } from '../../../../schemas/names.ts'
import type { Principal } from '../../../../schemas/scope.ts'
import { allow, authorise } from '../../../router/authorise.ts'
import { assertForModels } from '../../../router/model-rights.ts'
import { isChallenge } from '../../http/challenge.ts'
import type { TransportContext } from '../../shared/transport-context.ts'
import type { Tool } from './tools.ts'

/** The failure of a `tools/call` without the required token or scope, computed before the call. */
export type CheckAccess = (
  params: Readonly<Record<string, unknown>>,
  principal: Principal | null,
) => Failure | undefined

/** Undefined for invalid input, which the call itself reports. */
function envelopeOf(tool: Tool, input: Record<string, unknown>) {
  try {
    return tool.toEnvelope(input)
  } catch {
    return undefined
  }
}

/** Applies the router's own rule. Other errors are reported by the call itself. */
export function createRefusal(
  { agents }: Pick<TransportContext, 'agents'>,
  tools: ReadonlyMap<string, Tool>,
): CheckAccess {
  return ({ name, arguments: input = {} }, principal) => {
    const tool = typeof name === 'string' ? tools.get(name) : undefined
    if (!tool || !isRecord(input)) return undefined
    const envelope = envelopeOf(tool, input)
    if (!envelope) return undefined
    const { to, action: actionName } = envelope
    const agent = agents.find((candidate) => candidate.package_name === packageNameOf(String(to)))
    const action = agent?.actions.find(
      (candidate) => candidate.name === actionName || candidate.aliases?.includes(actionName),
    )
    // A tool of a listed agent states its scope. This check does not look up the agent that call_agent names.
    const scope = tool.listing._meta?.['dragoman/scope']
    if (!(agent && action) && scope === undefined) return undefined
    try {
      if (agent && action) {
        assertForModels(agent, action, { model: 'reads' })
        authorise(agent, action, principal)
      } else if (scope !== undefined) allow({ scope }, principal)
      return undefined
    } catch (thrown) {
      if (thrown instanceof Failure && isChallenge(thrown)) return thrown
      return undefined
    }
  }
}
