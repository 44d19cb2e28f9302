import type { Action, Agent } from '../../schemas/action.ts'
import { commandOf } from '../../schemas/commands.ts'
import { Failure } from '../../schemas/failure.ts'
import { registryName } from '../../schemas/names.ts'
import { type Principal, scopes } from '../../schemas/scope.ts'
import type { Call } from './call.ts'

/**
 * Throws Failure `forbidden` if a language model makes the call and the action is not for models. A model reads what
 * strangers wrote, so it may follow their instructions: it changes nothing here unless its user connected it to manage,
 * and it never receives a secret or an operator's rights.
 */
export function assertForModels(
  { package_name, protocol }: Agent,
  action: Action,
  { model }: Pick<Call, 'model'>,
): void {
  const isHosted = protocol === undefined
  if (model === undefined || !isHosted) return
  const reason = reasonAgainst(action, model)
  if (reason === undefined) return
  throw new Failure('forbidden', `${action.name} ${reason}, so models may not call it.`, {
    // A model with a shell would run the command itself, with an operator's rights.
    hint: needsOperator(action)
      ? 'Ask the user: only a person may decide this, on the command line or the pages of this gateway. Do not do it for them.'
      : `Ask the user to run this on the command line: dragoman ${commandFor(package_name, action.name)}`,
  })
}

function commandFor(agent: string, action: string): string {
  const own = agent === registryName ? commandOf[action] : undefined
  return own ?? `call ${agent} ${action} PARAMS`
}

function reasonAgainst(action: Action, model: NonNullable<Call['model']>): string | undefined {
  const { secret, effect } = action
  if (secret) return 'handles a secret'
  if (needsOperator(action)) return "needs an operator's rights"
  if (effect === 'write' && model === 'reads') return 'changes what is stored here'
  return undefined
}

function needsOperator({ access }: Action): boolean {
  return typeof access === 'object' && access.scope === 'admin'
}

/** The caller behind a model: an operator has the rights of any other caller. */
export function withoutAdmin(principal: Principal): Principal {
  if (!principal.scopes.has('admin')) return principal
  return { ...principal, scopes: new Set(scopes.filter((scope) => scope !== 'admin')) }
}
