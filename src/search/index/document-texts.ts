import type { SearchDocument } from '../search-index.ts'

/** Maximum characters of one text: a model reads no more than its first few hundred words. */
const maxCharacters = 2000
const joints = /[\s_\-./]+|(?<=[\p{Ll}\p{N}])(?=\p{Lu})/u

/** Weight of the vector of the name alone beside that of the whole text (docs/search.md). */
const nameShare = 0.3

/** Returns the name of an entry, its text, then one text for each of its capabilities. Each is embedded separately. */
export function documentTexts({ name, description, tags, capabilities }: SearchDocument): string[] {
  const labels = tags.map((tag) => ` [${tag}]`).join('')
  return [
    titled(name, ''),
    `${titled(name, description)}${labels}`,
    ...capabilities.map((capability) => titled(capability.name, capability.description)),
  ].map((text) => text.slice(0, maxCharacters))
}

/**
 * The vectors of an entry from those of its texts: its own, to which the name contributes however long the description
 * is, then those of its capabilities.
 */
export function documentVectors([name, own, ...capabilities]: readonly Float32Array[]): Float32Array[] {
  if (!name || !own) return []
  const sum = own.map((value, at) => value + nameShare * (name[at] ?? 0))
  const length = Math.hypot(...sum) || 1
  return [sum.map((value) => value / length), ...capabilities]
}

/** Identifiers are split, since models read words. */
function titled(name: string, description: string): string {
  const words = name.slice(0, maxCharacters).split(joints).join(' ').trim()
  return description === '' ? words : `${words}: ${description}`
}
