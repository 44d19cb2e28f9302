import type { Selection } from '../../../common/value-index.ts'
import { type MemoryLayout, slabRows } from './layout.ts'
import type { RowGroup, Slab } from './row-group.ts'
import type { MemoryViews } from './views.ts'

/** The rows that meet a filter, listed in their slabs until another plan is listed; valid until the next change. */
export interface ScanPlan {
  /** Three numbers for each slab: its address, the width of its entries and the number of listed entries. */
  readonly numbers: Uint32Array
  readonly slabs: readonly Slab[]
  /** The list of each slab, for listing it again. */
  readonly lists: readonly Uint16Array[]
  readonly rows: number
  readonly entries: number
}

/** Lists the rows of the selected entries in each slab. */
export function listRows(
  groups: Iterable<RowGroup>,
  { marks, mark }: Selection,
  views: MemoryViews,
  layout: MemoryLayout,
): ScanPlan {
  const numbers: number[] = []
  const slabs: Slab[] = []
  const lists: Uint16Array[] = []
  let rows = 0
  let entries = 0
  for (const group of groups) {
    for (const [number, slab] of group.slabs.entries()) {
      const list = (slab.address + layout.slab.list) / 2
      const listed = listSlab(slab, group.entriesIn(number), group.width, marks, mark, views.shorts, list)
      if (listed === 0) continue
      numbers.push(slab.address, group.width, listed)
      slabs.push(slab)
      lists.push(views.shorts.slice(list, list + listed * group.width))
      rows += listed * group.width
      entries += listed
    }
  }
  return { numbers: Uint32Array.from(numbers), slabs, lists, rows, entries }
}

/** Lists a plan again after another one was listed. */
export function listAgain({ slabs, lists }: ScanPlan, views: MemoryViews, layout: MemoryLayout): void {
  slabs.forEach((slab, at) => {
    const list = lists[at]
    if (list) views.shorts.set(list, (slab.address + layout.slab.list) / 2)
  })
}

/** The slot of an entry that a scan of the plan found. */
export function slotOf({ slabs }: ScanPlan, entry: number): number {
  return slabs[Math.floor(entry / slabRows)]?.slots[entry % slabRows] ?? 0
}

/** Returns the number of listed entries. */
function listSlab(
  { slots }: Slab,
  size: number,
  width: number,
  marks: Uint16Array,
  mark: number,
  shorts: Uint16Array,
  list: number,
): number {
  let end = list
  for (let index = 0; index < size; index++) {
    if (marks[slots[index] ?? 0] !== mark) continue
    for (let row = index * width, next = row + width; row < next; row++) shorts[end++] = row
  }
  return (end - list) / width
}
