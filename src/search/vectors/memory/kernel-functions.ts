import { kernel } from './kernel.ts'
import type { MemoryLayout } from './layout.ts'

/** The exports of kernel.wat: `slab` and `list` are addresses in bytes, and the list holds rows of that slab. */
export interface Kernel {
  estimate(slab: number, list: number, rows: number, unit: number, margin: number, slack: number): void
  choose(
    slab: number,
    list: number,
    entries: number,
    width: number,
    threshold: number,
    margin: number,
    slack: number,
  ): number
  measure(
    slab: number,
    list: number,
    entries: number,
    width: number,
    rows: number,
    unit: number,
    base: number,
    margin: number,
    slack: number,
  ): void
  measureFour(slab: number, list: number, entries: number, width: number, rows: number): void
  narrow(slab: number, list: number, entries: number, width: number, furthest: number, query: number): number
  similarity(slab: number, row: number, width: number, unit: number, margin: number, slack: number): number
  readonly best: { readonly value: number }
}

export function kernelOn(memory: WebAssembly.Memory, layout: MemoryLayout): Kernel {
  const { codeBytes, halfBytes, distanceBytes, slab, scratch } = layout
  const module = new WebAssembly.Module(Buffer.from(kernel, 'base64'))
  const { exports } = new WebAssembly.Instance(module, {
    store: { memory },
    layout: { codeBytes, halfBytes, distanceBytes },
    slab,
    scratch,
  })
  return exports as unknown as Kernel
}
