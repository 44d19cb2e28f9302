/** The first items whose characters fit within the limit, at least one. */
export function fitting<Item extends { readonly characters: number }>(
  items: readonly Item[],
  maxCharacters: number,
): readonly Item[] {
  let left = maxCharacters
  const end = items.findIndex(({ characters }, index) => {
    left -= characters
    return index > 0 && left < 0
  })
  return end < 0 ? items : items.slice(0, end)
}
