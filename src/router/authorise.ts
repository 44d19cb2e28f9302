import type { Access, Action, Agent } from '../../schemas/action.ts'
import { Failure } from '../../schemas/failure.ts'
import { holds, type Principal } from '../../schemas/scope.ts'

/** Throws Failure `unauthenticated`, or `forbidden` with the missing scope. */
export function authorise(agent: Agent, action: Action, principal: Principal | null): void {
  if (action.access === 'public') return
  confine(agent, principal)
  allow(action.access, principal)
}

/** Checks one access rule; REST rows that tighten an action's rule use it too. */
export function allow(access: Access, principal: Principal | null): void {
  if (access === 'public') return
  const scope = access === 'bearer' ? undefined : access.scope
  if (!principal) throw Failure.needsToken(undefined, scope && { scope })
  if (scope && !holds(principal, scope)) {
    throw new Failure('forbidden', `The token lacks the scope ${scope}.`, {
      scope,
      hint: `Use a token that has it. On the machine of the gateway \`dragoman token create --scope ${scope}\` makes one; elsewhere ask whoever made yours.`,
    })
  }
}

function confine(agent: Agent, principal: Principal | null): void {
  const tag = principal?.confined_to
  if (tag === undefined || agent.tags.includes(tag)) return
  throw new Failure('forbidden', `This session reaches only hosted agents tagged ${tag}.`, {
    hint: 'Send Authorization: Bearer TOKEN to call with your own rights.',
  })
}
