import { VectorStoreError } from '../vector-store-error.ts'
import type { MemoryLayout } from './layout.ts'
import { type MemoryViews, viewsOf } from './views.ts'

const pageBytes = 65_536
/** All pages but the last that 32 bits can address, so that no end of a section wraps around. */
const maxPages = 65_535

/** Slabs of one memory that threads share. It never shrinks; released slabs are reused. */
export class Slabs {
  readonly memory: WebAssembly.Memory
  views: MemoryViews
  readonly #slabBytes: number
  readonly #free: number[] = []
  /** Address of the next new slab. */
  #end: number
  readonly #contentStart: number

  constructor({ firstSlab, slab }: MemoryLayout) {
    this.#slabBytes = slab.bytes
    this.#contentStart = slab.highs
    this.#end = firstSlab
    this.memory = new WebAssembly.Memory({
      initial: Math.ceil(firstSlab / pageBytes),
      maximum: maxPages,
      shared: true,
    })
    this.views = viewsOf(this.memory)
  }

  /** Ensures that this number of slabs can be taken. Throws VectorStoreError `storage_full`. */
  reserve(count: number): void {
    const missing = count - this.#free.length
    const bytes = this.#end + missing * this.#slabBytes - this.views.bytes.length
    if (missing <= 0 || bytes <= 0) return
    const pages = Math.ceil(bytes / pageBytes)
    const present = this.views.bytes.length / pageBytes
    // Requests more than needed, since each growth makes new views.
    const growth = Math.min(Math.max(pages, Math.ceil(present / 8)), maxPages - present)
    try {
      this.memory.grow(Math.max(pages, growth))
    } catch (error) {
      throw new VectorStoreError('storage_full', 'There is no memory left for more vectors.', {
        cause: error,
      })
    }
    this.views = viewsOf(this.memory)
  }

  /** The address of a slab; its content is undefined. */
  take(): number {
    this.reserve(1)
    const free = this.#free.pop()
    if (free !== undefined) return free
    const address = this.#end
    this.#end += this.#slabBytes
    return address
  }

  give(address: number): void {
    this.#free.push(address)
  }

  /** The part of a slab that a snapshot holds. */
  content(address: number): Uint8Array {
    return this.views.bytes.subarray(address + this.#contentStart, address + this.#slabBytes)
  }
}
