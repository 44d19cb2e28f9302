// Frozen with migration 0004: a copy of the code of its day, which is never edited.

const lookalikes: Readonly<Record<string, string>> = { '0': 'o', '1': 'l', m: 'rn' }

/**
 * The UTS #39 skeleton of a package name, of which all characters are lower-case ASCII: letters, digits, `.`, `_`, `-`
 * and `/`. Of the confusables of Unicode only three concern these.
 */
export function skeletonOf(name: string): string {
  const plain = name.replace(/[_-]+/g, '-').replace(/\.+/g, '.')
  return plain
    .normalize('NFD')
    .replace(/[01m]/g, (character) => lookalikes[character] ?? character)
    .toLowerCase()
}
