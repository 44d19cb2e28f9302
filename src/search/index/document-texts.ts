import type { SearchDocument } from '../search-index.ts'

/** Maximum characters of one text: a model reads no more than its first few hundred words. */
const maxCharacters = 2000
const joints = /[\s_\-./]+|(?<=[\p{Ll}\p{N}])(?=\p{Lu})/u

/** Returns the text of an entry, then one text for each of its capabilities. Each is embedded separately. */
export function documentTexts({ name, description, tags, capabilities }: SearchDocument): string[] {
  const labels = tags.map((tag) => ` [${tag}]`).join('')
  return [
    `${titled(name, description)}${labels}`,
    ...capabilities.map((capability) => titled(capability.name, capability.description)),
  ].map((text) => text.slice(0, maxCharacters))
}

/** Identifiers are split, since models read words. */
function titled(name: string, description: string): string {
  const words = name.slice(0, maxCharacters).split(joints).join(' ').trim()
  return description === '' ? words : `${words}: ${description}`
}
