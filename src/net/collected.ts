/** Bytes that come in chunks, in one place that grows: a thousand chunks of a byte cost a thousand bytes, not objects. */
export interface Collected {
  readonly length: number
  add(chunk: Uint8Array): void
  bytes(): Uint8Array
}

export function createCollected(): Collected {
  let place: Uint8Array = new Uint8Array()
  let length = 0

  function grow(least: number): void {
    const grown = Buffer.allocUnsafeSlow(Math.max(least, 2 * place.length))
    grown.set(place)
    place = grown
  }

  return {
    get length() {
      return length
    },
    add(chunk) {
      // Most answers are one chunk: nothing is copied then, and nothing is ever written into it.
      if (length === 0) {
        place = chunk
        length = chunk.length
        return
      }
      const next = length + chunk.length
      if (next > place.length) grow(next)
      place.set(chunk, length)
      length = next
    },
    bytes: () => place.subarray(0, length),
  }
}
