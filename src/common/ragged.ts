/** Arrays of different lengths in one array; the nth array ends at `ends[n]`. */
interface Ragged<Values> {
  readonly values: Values
  readonly ends: Uint32Array
}

export function joinIntegers(parts: readonly Uint32Array[]): Ragged<Uint32Array> {
  return join(parts, (length) => new Uint32Array(length))
}

export function joinDoubles(parts: readonly Float64Array[]): Ragged<Float64Array> {
  return join(parts, (length) => new Float64Array(length))
}

function join<Values extends Uint32Array | Float64Array>(
  parts: readonly Values[],
  make: (length: number) => Values,
): Ragged<Values> {
  const ends = endsOf(parts)
  const values = make(ends.at(-1) ?? 0)
  parts.forEach((part, at) => {
    values.set(part, (ends[at] ?? 0) - part.length)
  })
  return { values, ends }
}

/** Views of each array. */
export function cut<Values extends Uint32Array | Float64Array>({ values, ends }: Ragged<Values>): Values[] {
  let start = 0
  return Array.from(ends, (end) => {
    const part = values.subarray(start, end)
    start = end
    return part as Values
  })
}

/** A view of the array with this number. */
export function partOf<Values extends Uint32Array | Float64Array>(
  { values, ends }: Ragged<Values>,
  at: number,
): Values {
  return values.subarray(at === 0 ? 0 : ends[at - 1], ends[at]) as Values
}

function endsOf(parts: readonly { readonly length: number }[]): Uint32Array {
  let end = 0
  return Uint32Array.from(parts, (part) => {
    end += part.length
    return end
  })
}
