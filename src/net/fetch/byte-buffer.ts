/**
 * Bytes that come in chunks. A large chunk is kept as it is: a copy would cost the garbage collector as much again.
 * Small ones are copied together: a thousand chunks of a byte cost a thousand bytes, not objects.
 */
export interface Collected {
  readonly length: number
  add(chunk: Uint8Array): void
  bytes(): Uint8Array
}

const pageBytes = 16 * 1024

export function createCollected(): Collected {
  const parts: Uint8Array[] = []
  let page: Uint8Array = new Uint8Array()
  /** What is on the page but in no part yet. */
  let [start, end] = [0, 0]
  let length = 0

  function close(): void {
    if (end > start) parts.push(page.subarray(start, end))
    start = end
  }

  function copy(chunk: Uint8Array): void {
    if (end + chunk.length > page.length) {
      close()
      page = Buffer.allocUnsafeSlow(Math.max(pageBytes, chunk.length))
      start = end = 0
    }
    page.set(chunk, end)
    end += chunk.length
  }

  return {
    get length() {
      return length
    },
    add(chunk) {
      // Most answers are one chunk: nothing is copied then.
      if (length === 0 || chunk.length >= pageBytes) {
        close()
        parts.push(chunk)
      } else copy(chunk)
      length += chunk.length
    },
    bytes() {
      close()
      const [first = page, second] = parts
      return second ? Buffer.concat(parts, length) : first
    },
  }
}
