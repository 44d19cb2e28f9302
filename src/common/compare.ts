/** By code points, as UTF-8 and SQL's binary collation order texts (JavaScript's own order is by UTF-16 units). */
export function compareText(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length)
  for (let index = 0; index < shorter; index++) {
    const unit = one.charCodeAt(index)
    const otherUnit = other.charCodeAt(index)
    if (unit !== otherUnit) return surrogatesLast(unit) - surrogatesLast(otherUnit)
  }
  return one.length - other.length
}

/** For ASCII, where JavaScript's own order is that of the bytes. */
export function compareAscii(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

function surrogatesLast(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}
