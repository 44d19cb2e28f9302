import type { DeprecationInput } from '../../../schemas/deprecation.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { isListed } from '../../store/entries/version-content.ts'
import type { DecisionReads } from '../../store/store.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import type { Committed, Editor } from './editor.ts'
import { toReference, unlisted } from './reference.ts'

/** Maximum length of a chain of successors. */
const maxChain = 100

/**
 * Deprecates an entry, or ends its deprecation. Throws Failure `wrong_state` if the entry is not deprecated,
 * `not_found` for a successor that is not listed, `conflict` for a successor whose chain leads back to the entry.
 */
export function createDeprecate(editor: Pick<Editor, 'change'>) {
  return async function deprecate(
    { deprecated, message, successor, ...change }: DeprecationInput,
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

/** Finds the successor and checks that the chain of successors ends. */
async function successorOf(
  reads: Pick<DecisionReads, 'entry'>,
  entry: StoredEntry,
  successor: string,
): Promise<string> {
  const first = await reads.entry(toReference(successor))
  if (!first || !isListed(first)) {
    throw unlisted(successor, {
      errors: [{ pointer: '/successor', detail: 'Name a listed agent.' }],
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
      ? `${package_name} cannot be its own successor.`
      : `${successor.package_name} is itself replaced by ${package_name}.`
  return new Failure('conflict', detail, {
    errors: [{ pointer: '/successor', detail: 'Name an agent that does not lead back here.' }],
  })
}
