import { Failure } from '../../../schemas/failure.ts'
import type { Change } from '../../../schemas/publication.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { isListed } from '../../store/entries/version-content.ts'
import type { DecisionReads, StoredEntry } from '../../store/store.ts'
import type { Committed, Editor } from './editor.ts'
import { toReference } from './reference.ts'

export interface Deprecating extends Change {
  /** False takes it back. */
  readonly deprecated: boolean
  readonly message?: string | undefined
  readonly successor?: string | undefined
}

/** Successors of successors that are looked at. */
const maxChain = 100

/**
 * Says of an entry that nobody should begin to use it, or takes that back. Throws Failure `wrong_state` where there is
 * nothing to take back, `not_found` for a successor that is not listed, `conflict` for one that leads back here.
 */
export function createDeprecate(editor: Pick<Editor, 'change'>) {
  return async function deprecate(
    { deprecated, message, successor, ...change }: Deprecating,
    caller: Principal | null,
  ): Promise<Committed> {
    const action = deprecated ? 'deprecate' : 'undeprecate'
    return await editor.change(change, caller, { action }, async (entry, _, at, reads) => {
      if (deprecated) {
        const name = successor === undefined ? null : await successorOf(reads, entry, successor)
        return { ...entry, deprecated: { message: message ?? null, successor: name, at } }
      }
      if (entry.deprecated) return { ...entry, deprecated: null }
      throw new Failure('wrong_state', `${entry.package_name} is not deprecated.`)
    })
  }
}

/** Whoever follows successors comes to an end. */
async function successorOf(
  reads: Pick<DecisionReads, 'entry'>,
  entry: StoredEntry,
  successor: string,
): Promise<string> {
  const first = await reads.entry(toReference(successor))
  if (!first || !isListed(first)) {
    throw new Failure('not_found', `No agent is listed as ${successor}.`, {
      errors: [{ pointer: '/successor', detail: 'Name an agent that everybody can see.' }],
    })
  }
  let next: StoredEntry | undefined = first
  for (let steps = 0; next && steps < maxChain; steps++) {
    if (next.id === entry.id) throw inACircle(entry, first)
    const name: string | null | undefined = next.deprecated?.successor
    next = name ? await reads.entry({ package_name: name }) : undefined
  }
  return first.package_name
}

function inACircle({ package_name }: StoredEntry, successor: StoredEntry): Failure {
  const detail =
    successor.package_name === package_name
      ? `${package_name} cannot take its own place.`
      : `${successor.package_name} is itself replaced by ${package_name}.`
  return new Failure('conflict', detail, {
    errors: [{ pointer: '/successor', detail: 'Name an agent that does not lead back here.' }],
  })
}
