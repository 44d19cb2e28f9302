import unhomoglyph from 'unhomoglyph'

/** What a name looks like: two names with one skeleton can be taken for each other (UTS #39 section 4). */
export function skeletonOf(name: string): string {
  return unhomoglyph(name.normalize('NFD')).normalize('NFD').toLowerCase()
}
