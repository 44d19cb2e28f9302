/** Returns the first items whose characters fit within the limit, but at least one item. */
export function within<Row extends { readonly characters: number }>(
  rows: readonly Row[],
  characters: number,
): readonly Row[] {
  let left = characters
  const end = rows.findIndex((row, index) => {
    left -= row.characters
    return index > 0 && left < 0
  })
  return end < 0 ? rows : rows.slice(0, end)
}
