import { LRUCache } from 'lru-cache'
import { untilAborted } from '../../../common/abort.ts'
import { integerPieces, jsonArrays, jsonPieces } from '../../../common/pieces.ts'
import type { Pieces, Sections } from '../../../common/sections.ts'
import { type Selection, ValueIndex } from '../../../common/value-index.ts'
import {
  type AttributeFilter,
  attributeNames,
  conditionsOf,
  type EntryAttributes,
  haveSameAttributes,
  pickAttributes,
  valuesOf,
} from '../attributes.ts'
import type { VectorEntry } from '../vector-store.ts'
import type { MemoryLayout } from './layout.ts'
import { listAgain, listRows, type ScanPlan } from './plan.ts'
import { type ErrorBounds, noBounds } from './quantise.ts'
import { RowGroup, type Slab, widest } from './row-group.ts'
import { Slabs } from './slabs.ts'

interface Stored {
  readonly id: string
  readonly attributes: EntryAttributes
  readonly group: RowGroup
  readonly place: number
}

interface SavedGroups {
  readonly bounds: ErrorBounds
  readonly groups: readonly { readonly width: number; readonly size: number }[]
}

type SavedEntry = Omit<Stored, 'group'> & { readonly width: number }

/** Entries in one piece of a snapshot. */
const savedEntries = 500

/** Attributes that further entries share, of those that were seen last. */
const sharedAttributes = 5000

/** The first row of an entry's vectors, and their number. */
interface Rows {
  readonly slab: Slab
  readonly row: number
  readonly width: number
}

/** The live entries, each in its own slot, with their vectors and attributes. */
export class VectorTable {
  bounds = noBounds
  readonly pool: Slabs
  readonly #layout: MemoryLayout
  readonly #entries: (Stored | undefined)[] = []
  readonly #slots = new Map<string, number>()
  readonly #free: number[] = []
  readonly #groups = new Map<number, RowGroup>()
  readonly #attributes = new ValueIndex(attributeNames)
  /** Most entries have the same attributes as many others: they share one object. */
  readonly #shared = new LRUCache<string, EntryAttributes>({ max: sharedAttributes })
  /**
   * Plans by selection: a selection is the same object until an entry is added, removed or changes its attributes.
   */
  readonly #plans = new WeakMap<Selection, ScanPlan>()
  #listed: ScanPlan | undefined

  constructor(layout: MemoryLayout) {
    this.#layout = layout
    this.pool = new Slabs(layout)
  }

  /**
   * Restores what `save` returned for the same layout. Throws for other content; ends early, with a part of it, when the
   * signal aborts.
   */
  static async load(layout: MemoryLayout, sections: Sections, signal: AbortSignal): Promise<VectorTable> {
    const table = new VectorTable(layout)
    const { bounds, groups }: SavedGroups = JSON.parse(await sections.text('groups'))
    table.bounds = bounds
    const slots = await sections.integers('slots')
    let start = 0
    const restored = groups.map(({ width, size }) => new RowGroup(width, table.pool, layout, size))
    table.pool.reserve(restored.reduce((sum, group) => sum + group.slabsFor(group.size), 0))
    for (const group of restored) {
      group.restore(slots.subarray(start, start + group.size))
      start += group.size
      table.#groups.set(group.width, group)
    }
    await sections.fill('memory', untilAborted(signal, table.#contents()))
    for await (const entries of jsonArrays<SavedEntry | null>(sections, 'entries')) {
      if (signal.aborted) break
      for (const entry of entries) table.#restore(entry)
    }
    return table
  }

  *save(): Pieces {
    const groups = [...this.#groups.values()]
    const saved: SavedGroups = {
      bounds: this.bounds,
      groups: groups.map(({ width, size }) => ({ width, size })),
    }
    yield ['groups', JSON.stringify(saved)]
    yield* integerPieces(
      'slots',
      groups.values().flatMap((group) => group.entrySlots()),
    )
    for (const content of this.#contents()) yield ['memory', content]
    yield* jsonPieces(
      'entries',
      this.#entries.values().map((entry) => {
        if (!entry) return null
        const { id, attributes, group, place } = entry
        return { id, attributes, width: group.width, place } satisfies SavedEntry
      }),
      savedEntries,
    )
  }

  at(slot: number): Stored {
    const entry = this.#entries[slot]
    if (!entry) throw new RangeError(`Slot ${slot} is empty.`)
    return entry
  }

  rowsOf(id: string): Rows | undefined {
    const slot = this.#slots.get(id)
    if (slot === undefined) return undefined
    const { group, place } = this.at(slot)
    return { ...group.at(place), width: group.width }
  }

  /** Number of the entry's vectors; 0 for an unknown entry. */
  widthOf(id: string): number {
    const slot = this.#slots.get(id)
    return slot === undefined ? 0 : this.at(slot).group.width
  }

  /** Reserves space for these entries, so that `put` cannot fail. Throws VectorStoreError `storage_full`. */
  reserve(widths: Iterable<readonly [id: string, width: number]>): void {
    const growth = new Map<number, number>()
    const grow = (width: number, by: number) => growth.set(width, (growth.get(width) ?? 0) + by)
    for (const [id, width] of widths) {
      grow(this.widthOf(id), -1)
      grow(width, 1)
    }
    growth.delete(0)
    let slabs = 0
    for (const [width, by] of growth) {
      const group = this.#groupOf(width)
      slabs += group.slabsFor(group.size + by) - group.slabs.length
    }
    this.pool.reserve(slabs)
  }

  /** Adds the entry, or replaces it if its number of vectors is unchanged; otherwise it must be removed first. */
  put(id: string, { attributes, vectors }: VectorEntry): void {
    const slot = this.#slots.get(id)
    if (slot === undefined) this.#add(id, attributes, vectors)
    else this.#replace(slot, attributes, vectors)
  }

  /** Has no effect for an unknown id. */
  remove(id: string): void {
    const slot = this.#slots.get(id)
    if (slot === undefined) return
    const { attributes, group, place } = this.at(slot)
    const moved = group.remove(place)
    if (moved !== undefined) this.#entries[moved] = { ...this.at(moved), place }
    if (group.size === 0) this.#groups.delete(group.width)
    this.#attributes.remove(slot, valuesOf(attributes))
    this.#entries[slot] = undefined
    this.#slots.delete(id)
    this.#free.push(slot)
  }

  /** The rows of the entries that meet the filter; a repeated filter costs almost nothing. */
  plan(filter: AttributeFilter): ScanPlan {
    const selection = this.#attributes.select(conditionsOf(filter), this.#entries.length)
    const plan = this.#plans.get(selection) ?? this.#list(selection)
    if (plan !== this.#listed) listAgain(plan, this.pool.views, this.#layout)
    this.#listed = plan
    return plan
  }

  *#contents(): Generator<Uint8Array> {
    for (const { slabs } of this.#groups.values())
      for (const { address } of slabs) yield this.pool.content(address)
  }

  #restore(entry: SavedEntry | null): void {
    const slot = this.#entries.length
    const group = entry && this.#groups.get(entry.width)
    if (!group) {
      this.#free.push(slot)
      this.#entries.push(undefined)
      return
    }
    const { id, attributes, place } = entry
    this.#slots.set(id, slot)
    this.#attributes.add(slot, valuesOf(attributes))
    this.#entries.push({ id, attributes: this.#share(attributes), group, place })
  }

  #list(selection: Selection): ScanPlan {
    const groups = selection.total === 0 ? [] : this.#groups.values()
    const plan = listRows(groups, selection, this.pool.views, this.#layout)
    this.#plans.set(selection, plan)
    this.#listed = plan
    return plan
  }

  #add(id: string, attributes: EntryAttributes, vectors: readonly Float32Array[]): void {
    const slot = this.#free.pop() ?? this.#entries.length
    const group = this.#groupOf(vectors.length)
    const place = group.add(slot)
    this.#groups.set(group.width, group)
    this.#slots.set(id, slot)
    this.#entries[slot] = { id, attributes: this.#share(attributes), group, place }
    this.#attributes.add(slot, valuesOf(attributes))
    this.#write(group, place, vectors)
  }

  #replace(slot: number, attributes: EntryAttributes, vectors: readonly Float32Array[]): void {
    const before = this.at(slot)
    this.#write(before.group, before.place, vectors)
    if (haveSameAttributes(before.attributes, attributes)) return
    this.#attributes.remove(slot, valuesOf(before.attributes))
    this.#attributes.add(slot, valuesOf(attributes))
    this.#entries[slot] = { ...before, attributes: this.#share(attributes) }
  }

  #share(attributes: EntryAttributes): EntryAttributes {
    const own = pickAttributes(attributes)
    const key = JSON.stringify(own)
    const shared = this.#shared.get(key) ?? own
    this.#shared.set(key, shared)
    return shared
  }

  #write(group: RowGroup, place: number, vectors: readonly Float32Array[]): void {
    this.bounds = widest(this.bounds, group.write(place, vectors))
  }

  /** The group of this width, or a new empty one that is not stored yet. */
  #groupOf(width: number): RowGroup {
    return this.#groups.get(width) ?? new RowGroup(width, this.pool, this.#layout)
  }
}
