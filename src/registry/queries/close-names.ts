import { nearest } from '../../../schemas/nearest.ts'
import type { SearchIndex } from '../../search/search-index.ts'
import type { Reader } from '../../store/store.ts'
import { isVisible } from '../entry/permissions.ts'

/** Agents whose names are compared with one that is not listed. */
const maxCandidates = 20
const maxNames = 3

/** Listed package names close to one that is not listed. */
export async function closeNames(
  name: string,
  index: Pick<SearchIndex, 'search'>,
  reader: Pick<Reader, 'entries'>,
): Promise<readonly string[]> {
  const query = {
    filter: { state: 'ACTIVE' },
    limit: maxCandidates,
    sort: 'relevance',
    words_only: true,
  } as const
  // Many names share a namespace: the last part is looked for, spelling corrected, on its own as well.
  const texts = [name, lastPart(name)].filter((text) => text !== '')
  const { signal } = new AbortController()
  const found = await Promise.all(texts.map((text) => index.search({ ...query, text }, signal)))
  const ids = new Set(found.flatMap(({ hits }) => hits.map(({ id }) => id)))
  const entries = await reader.entries([...ids])
  const names = entries.filter((entry) => isVisible(entry, null)).map((entry) => entry.package_name)
  const close = names.filter((candidate) => nearest(lastPart(name), [lastPart(candidate)]).length > 0)
  return [...new Set([...nearest(name, close), ...close])].slice(0, maxNames)
}

/** The part of a name that its namespace does not state. */
function lastPart(name: string): string {
  return name.slice(name.search(/[^./]*$/))
}
