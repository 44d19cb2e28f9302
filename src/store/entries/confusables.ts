import unhomoglyph from 'unhomoglyph'

/**
 * The UTS #39 skeleton of a name (section 4): names with equal skeletons are confusable. Beyond that
 * standard, an underscore equals a dash, and repeated separators equal one separator.
 */
export function lookalikeKey(name: string): string {
  const plain = name.replace(/[_-]+/g, '-').replace(/\.+/g, '.')
  return unhomoglyph(plain.normalize('NFD')).normalize('NFD').toLowerCase()
}
