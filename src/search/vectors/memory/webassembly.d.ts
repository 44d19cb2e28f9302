/** The part of WebAssembly that this folder uses; TypeScript declares it for browsers only. */
declare namespace WebAssembly {
  class Memory {
    constructor(limits: { initial: number; maximum: number; shared: true })
    readonly buffer: SharedArrayBuffer
    /** Adds pages of 64 KiB. Throws RangeError if the memory cannot grow. */
    grow(pages: number): number
  }
  class Module {
    constructor(bytes: Uint8Array)
  }
  class Instance {
    constructor(module: Module, imports: Record<string, Record<string, Memory | number>>)
    readonly exports: Record<string, unknown>
  }
}
