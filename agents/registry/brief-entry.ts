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
import { calledEndpoint } from '../../schemas/callable.ts'
import type { EntryDetail } from '../../schemas/card.ts'
import type { Package } from '../../schemas/package.ts'

const maxDescription = 800
const maxActionDescription = 300

/**
 * An agent and its actions for a language model, in about so many tokens: schemas become sketches where there is no
 * room, and the last actions are left out.
 */
export function briefEntry(entry: EntryDetail, maxTokens: number): BriefEntry {
  const { version, license, packages, capabilities } = entry
  const facts = {
    ...briefFacts(entry, maxDescription),
    ...(version !== null && { version }),
    ...(license !== null && { license }),
    ...(packages.length > 0 && { packages: packages.map(namesOf) }),
  }
  const drafts = actionsOf(capabilities, calledEndpoint(entry)?.protocol).map((capability) =>
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
  }
}

function namesOf({
  registry_type,
  identifier,
  version,
}: Package): NonNullable<BriefEntry['packages']>[number] {
  return { registry_type, identifier, ...(version !== undefined && { version }) }
}
