/**
 * Compares by code points, the order of UTF-8 and of SQL's binary collation. JavaScript's own order is by UTF-16
 * units.
 */
export function compareText(left: string, right: string): number {
  const shorter = Math.min(left.length, right.length)
  for (let index = 0; index < shorter; index++) {
    const unit = left.charCodeAt(index)
    const rightUnit = right.charCodeAt(index)
    if (unit !== rightUnit) return surrogatesLast(unit) - surrogatesLast(rightUnit)
  }
  return left.length - right.length
}

/** Compares ASCII texts, for which JavaScript's own order is the order of the bytes. */
export function compareAscii(left: string, right: string): number {
  if (left === right) return 0
  return left < right ? -1 : 1
}

function surrogatesLast(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}
