import {
  actionDraft,
  actionsOf,
  type BriefHit,
  briefFacts,
  fittingConfidence,
  lengthOf,
  shortened,
  withSchemas,
} from '../../../schemas/brief.ts'
import { calledEndpoint, isCallable } from '../../../schemas/callable.ts'
import type { Alternative, Match } from '../../../schemas/card.ts'
import type { Entry } from '../../../schemas/entry.ts'
import type { Capability } from '../../../schemas/entry-parts.ts'
import { fitting } from '../../common/fitting.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'

/** An agent that a search found, as its caller sees it and as it is stored. */
export interface RankedEntry {
  readonly view: Entry
  readonly entry: Pick<
    StoredEntry,
    'package_name' | 'owner' | 'name' | 'description' | 'capabilities' | 'endpoints' | 'card' | 'manifest_url'
  >
  /** Absent if the search had no text. */
  readonly reasons?: { readonly score: number; readonly confidence: number; readonly match: Match }
  /** Entries of other sources that describe the same agent. */
  readonly alternatives?: Alternative[]
}

const maxDescription = 160
const maxActionDescription = 120
const maxActions = 3

/** An agent in a brief search, before its actions have schemas. */
interface BriefDraft {
  readonly found: BriefHit
  readonly drafts: readonly ReturnType<typeof actionDraft>[]
  readonly characters: number
}

function draftOf({ view, entry, reasons, alternatives }: RankedEntry): BriefDraft {
  const protocol = calledEndpoint(entry)?.protocol
  const capabilities = actionsOf(entry.capabilities, protocol)
  // The words of a skill are all that says what its message must hold.
  const isDescribed = (rank: number) => isCallable(view) && (rank === 0 || protocol === 'a2a')
  const drafts = bestFirst(capabilities, reasons?.match.capability).map((capability, rank) =>
    actionDraft(
      capability,
      isDescribed(rank) ? shortened(capability.description, maxActionDescription) : undefined,
    ),
  )
  const more = capabilities.length - drafts.length
  const found = {
    ...briefFacts(view, maxDescription),
    ...(reasons && { confidence: rounded(reasons.confidence) }),
    ...(drafts.length > 0 && { actions: drafts.map(({ sketched }) => sketched) }),
    ...(more > 0 && { more_actions: more }),
    ...(alternatives && { alternatives: alternatives.map(({ package_name }) => package_name) }),
  }
  return { found, drafts, characters: lengthOf(found) }
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100
}

function bestFirst(capabilities: readonly Capability[], best: string | null | undefined): Capability[] {
  const matched = capabilities.find(({ name }) => name === best)
  const others = capabilities.filter((capability) => capability !== matched)
  return [...(matched ? [matched] : []), ...others].slice(0, maxActions)
}

/**
 * The first agents that fit, at least one, in the form for language models. Schemas take the place of sketches as far
 * as the page has `schemaCharacters` in all: first for the best action of each agent, then for the next ones. An agent
 * that does not fit the query well keeps its sketches.
 */
export function briefPage(
  ranked: readonly RankedEntry[],
  maxCharacters: number,
  schemaCharacters: number,
): BriefHit[] {
  const page = fitting(ranked.map(draftOf), maxCharacters)
  const left = schemaCharacters - page.reduce((sum, { characters }) => sum + characters, 0)
  const ranks = Array.from({ length: maxActions }, (_, rank) => rank)
  const likely = page.filter(({ found }) => (found.confidence ?? 1) >= fittingConfidence)
  const ordered = ranks.flatMap((rank) => likely.flatMap(({ drafts }) => drafts[rank] ?? []))
  const actions = withSchemas(ordered, left)
  return page.map(({ found, drafts }) => {
    if (drafts.length === 0) return found
    return { ...found, actions: drafts.map((draft) => actions[ordered.indexOf(draft)] ?? draft.sketched) }
  })
}
