/** Bytes read of a body before the event loop gets a turn: buffered chunks would otherwise be read without a pause. */
export const yieldBytes = 256 * 1024

const pageBytes = 16 * 1024

/**
 * Collects bytes that come in chunks. A large chunk is kept as it is, since a copy would double the work of the garbage
 * collector. Small chunks are copied into pages, so that a thousand chunks of a byte do not cost a thousand objects.
 */
export class ByteBuffer {
  readonly #parts: Uint8Array[] = []
  #page: Uint8Array = new Uint8Array()
  /** Range of the page that is in no part yet. */
  #start = 0
  #end = 0
  #length = 0

  get length(): number {
    return this.#length
  }

  add(chunk: Uint8Array): void {
    // Most answers are one chunk, which is not copied.
    if (this.#length === 0 || chunk.length >= pageBytes) {
      this.#closeRange()
      this.#parts.push(chunk)
    } else this.#copy(chunk)
    this.#length += chunk.length
  }

  bytes(): Uint8Array {
    this.#closeRange()
    const [first = this.#page, second] = this.#parts
    return second ? Buffer.concat(this.#parts, this.#length) : first
  }

  #closeRange(): void {
    if (this.#end > this.#start) this.#parts.push(this.#page.subarray(this.#start, this.#end))
    this.#start = this.#end
  }

  #copy(chunk: Uint8Array): void {
    if (this.#end + chunk.length > this.#page.length) {
      this.#closeRange()
      this.#page = Buffer.allocUnsafeSlow(Math.max(pageBytes, chunk.length))
      this.#start = this.#end = 0
    }
    this.#page.set(chunk, this.#end)
    this.#end += chunk.length
  }
}
