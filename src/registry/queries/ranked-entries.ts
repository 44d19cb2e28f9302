import type { Alternative } from '../../../schemas/card.ts'
import type { Principal } from '../../../schemas/scope.ts'
import type { Hit } from '../../search/search-index.ts'
import type { Reader } from '../../store/store.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import type { CredentialMarks } from '../entry/credential-marks.ts'
import { isVisible } from '../entry/permissions.ts'
import type { Views } from '../entry/view.ts'
import type { RankedEntry } from './brief-page.ts'

interface RankedEntriesOptions {
  readonly reader: Pick<Reader, 'entries'>
  readonly views: Views
  readonly credentialMarks: CredentialMarks
}

/** Reads the entries of hits as a caller sees them: the store, not the index, decides which ones these are. */
export async function rankedEntries(
  hits: readonly Hit[],
  hasText: boolean,
  caller: Principal | null,
  { reader, views, credentialMarks }: RankedEntriesOptions,
): Promise<RankedEntry[]> {
  const entries = await reader.entries(hits.flatMap(({ id, alternatives = [] }) => [id, ...alternatives]))
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  const visible = hits.flatMap((hit) => {
    const entry = byId.get(hit.id)
    return entry && isVisible(entry, caller) ? { hit, entry } : []
  })
  const unmarked = visible.map(({ entry }) => views.entry(entry, caller))
  const marked = await credentialMarks.mark(unmarked, caller)
  return visible.flatMap(({ hit, entry }, at) => {
    const view = marked[at]
    if (!view) return []
    const others = (hit.alternatives ?? []).flatMap((id) => byId.get(id) ?? [])
    const alternatives = others
      .filter((other) => isVisible(other, null))
      .map((other) => alternativeOf(other, views))
    return {
      view,
      entry,
      ...(hasText && { reasons: { score: hit.score, confidence: hit.confidence ?? 0, match: hit.why } }),
      ...(alternatives.length > 0 && { alternatives }),
    }
  })
}

function alternativeOf(entry: StoredEntry, views: Views): Alternative {
  const { package_name, callable, origin } = views.entry(entry, null)
  return { package_name, callable, source: origin?.source ?? null }
}
