import {
  actionDraft,
  actionsOf,
  type BriefEntry,
  briefFacts,
  charactersPerToken,
  lengthOf,
  shortened,
  withSchemas,
} from '../../schemas/brief.ts'
import { type Callable, calledEndpoint } from '../../schemas/callable.ts'
import type { EntryDetail } from '../../schemas/card.ts'
import { listedActions, registryName } from '../../schemas/names.ts'
import { type Package, runnablePackage } from '../../schemas/package.ts'

const maxDescription = 800
const maxActionDescription = 300

/**
 * An agent and its actions for a language model, in about so many tokens: schemas become sketches where there is no
 * room, and the last actions are left out.
 */
export function briefEntry(entry: EntryDetail, maxTokens: number, isApproved = false): BriefEntry {
  const { version, license, packages, capabilities, callable, callable_reason } = entry
  const called = calledEndpoint(entry)
  const runs = callable === 'package' && runnablePackage(entry) !== undefined
  const facts = {
    ...briefFacts(entry, maxDescription),
    ...(isApproved && { approved: true as const }),
    ...(!isReady.has(callable) && !runs && { callable_reason }),
    ...(version !== null && { version }),
    ...(license !== null && { license }),
    ...(packages.length > 0 && { packages: packages.map(namesOf) }),
  }
  const drafts = actionsOf(capabilities, called?.protocol).map((capability) =>
    actionDraft(capability, shortened(capability.description, maxActionDescription)),
  )
  let left = maxTokens * charactersPerToken - lengthOf(facts)
  const shown = drafts.filter(({ sketched }) => {
    const characters = lengthOf(sketched)
    if (characters > left) return false
    left -= characters
    return true
  })
  const more = drafts.length - shown.length
  return {
    ...facts,
    actions: withSchemas(shown, left),
    ...(more > 0 && { more_actions: more }),
    ...nextOf(entry, { runs, isApproved, isUnread: drafts.length === 0 }),
  }
}

/** What a model does next where the actions are unknown, or where the agent is a package. */
function nextOf(
  entry: EntryDetail,
  {
    runs,
    isApproved,
    isUnread,
  }: { readonly runs: boolean; readonly isApproved: boolean; readonly isUnread: boolean },
): Pick<BriefEntry, 'next'> {
  const { callable, package_name } = entry
  const isPackage = callable === 'package'
  const steps = [
    ...(runs && !isApproved ? [approval] : []),
    ...(isUnread && (runs || calledEndpoint(entry)) ? [unread] : []),
    ...(isPackage ? [installed(package_name)] : []),
  ]
  return steps.length > 0 ? { next: steps.join(' ') } : {}
}

/** What may be called without another word. */
const isReady: ReadonlySet<Callable> = new Set(['hosted', 'open'])

const approval =
  'call_agent runs it here, in a sandbox, once it is approved: it asks the user, or says whom to ask. It reaches only the hosts that the approval names: tell the user which hosts it needs.'
const installed = (agent: string) =>
  `For another program of the user, call_agent ${JSON.stringify({ agent: registryName, action: 'install_config', params: { agent } })} shows how to install it.`
const unread = `Its actions are unknown here: call_agent with the action ${listedActions.description} asks it for them.`

function namesOf({
  registry_type,
  identifier,
  version,
}: Package): NonNullable<BriefEntry['packages']>[number] {
  return { registry_type, identifier, ...(version !== undefined && { version }) }
}
