/** Views of a memory by type of number. */
export interface MemoryViews {
  readonly bytes: Uint8Array
  readonly shorts: Uint16Array
  readonly words: Uint32Array
  readonly floats: Float32Array
}

export function viewsOf({ buffer }: WebAssembly.Memory): MemoryViews {
  return {
    bytes: new Uint8Array(buffer),
    shorts: new Uint16Array(buffer),
    words: new Uint32Array(buffer),
    floats: new Float32Array(buffer),
  }
}
