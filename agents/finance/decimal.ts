const number = /^(\d{1,20})(?:\.(\d{1,40}))?(?:[eE]([+-]?\d{1,2}))?$/

/**
 * A JSON number or a decimal as plain digits, without conversion to a float: `1.5e-7` is `0.00000015`. Undefined for a
 * sign and for other texts.
 */
export function plainDecimal(text: string): string | undefined {
  const [, whole, fraction = '', exponent] = number.exec(text) ?? []
  if (whole === undefined) return undefined
  if (exponent === undefined) return text
  const digits = whole + fraction
  const point = whole.length + Number(exponent)
  if (point <= 0) return `0.${'0'.repeat(-point)}${digits}`
  const left = digits
    .slice(0, point)
    .padEnd(point, '0')
    .replace(/^0+(?=\d)/, '')
  const right = digits.slice(point)
  return right === '' ? left : `${left}.${right}`
}
