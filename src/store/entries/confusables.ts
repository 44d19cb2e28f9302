import unhomoglyph from 'unhomoglyph'

/**
 * What a name looks like: two names with one skeleton can be taken for each other (UTS #39 section 4). Beyond that
 * standard, an underscore looks like a dash, and a separator however often like itself.
 */
export function skeletonOf(name: string): string {
  const plain = name.replace(/[_-]+/g, '-').replace(/\.+/g, '.')
  return unhomoglyph(plain.normalize('NFD')).normalize('NFD').toLowerCase()
}
