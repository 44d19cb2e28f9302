import type { VerificationLevel } from '../../../schemas/entry-parts.ts'
import { compareAscii } from '../../common/compare.ts'
import { inSlices } from '../../common/time-slices.ts'
import type { SearchDocument } from '../search-index.ts'

/** What a completion reads of a listed entry. */
export type Named = Pick<SearchDocument, 'name' | 'package_name' | 'verification_level'>

/** A name in the form that completions compare. */
interface Entry {
  /** Folded. */
  readonly name: string
  readonly package_name: string
  /** The lower, the earlier among equal matches. */
  readonly rank: number
}

/** Where a name has a text, the best place first; the numbers are parts of keys. */
const places = { nameStart: 0, nameWord: 1, packageWord: 2, inside: 3 } as const
type Place = (typeof places)[keyof typeof places]

export const gramLength = 3
export const maxCharacters = 100
/** Slots that are compared with a text in one list; those that come later rank lower. */
const maxCompared = 1000
const maxNameLength = 999
const qualityRank = 1_000_000
const verifications: readonly VerificationLevel[] = ['domain_verified', 'unverified', 'unclaimed']

/**
 * The names and package names of listed entries, for completion. The slots with the same three characters are a list
 * in the order of their ranks, apart for each place, so that a search reads the beginning of a list and stops. Changes
 * wait until the next completion.
 */
export class NameIndex {
  readonly #namedOf: (slot: number) => Named
  /** The factor of an entry's score in a search. */
  readonly #weightOf: (slot: number) => number
  readonly #entries: (Entry | undefined)[] = []
  /** Slots that are in no list yet; those that a completion has read have their entries. */
  readonly #pending = new Map<number, Entry | undefined>()
  readonly #lists = new Map<number, RankedSlots>()
  readonly #compare = (left: number, right: number): number => {
    const [first, second] = [this.#entries[left], this.#entries[right]]
    return first && second ? compareEntries(first, second) || left - right : 0
  }

  /** `namedOf` reads the entry of a slot from its addition to its removal. */
  constructor(namedOf: (slot: number) => Named, weightOf: (slot: number) => number = () => 1) {
    this.#namedOf = namedOf
    this.#weightOf = weightOf
  }

  add(slot: number): void {
    this.#pending.set(slot, undefined)
  }

  remove(slot: number): void {
    if (this.#pending.delete(slot)) return
    const entry = this.#entries[slot]
    if (!entry) return
    for (const key of keysOf(entry)) {
      const list = this.#lists.get(key)
      list?.remove(slot, this.#compare)
      if (list?.size === 0) this.#lists.delete(key)
    }
    this.#entries[slot] = undefined
  }

  /**
   * The slots whose names have the text, the best first: at the start of the name, of another word of it, of a word of
   * the package name, or inside. A text of one or two characters completes words of names only.
   */
  async complete(text: string, limit: number): Promise<number[]> {
    if (this.#pending.size > 0) await this.#apply()
    const query = fold(text.slice(0, maxCharacters))
    if (query === '') return []
    const rarest = this.#rarest(query)
    const found = new Set<number>()
    for (const place of Object.values(places)) {
      const own = this.#lists.get(keyOf(place, query))
      // A list of all places may be shorter than that of this place.
      const list = rarest && (!own || rarest.size < own.size) ? rarest : own
      for (const slot of list?.first(maxCompared) ?? []) {
        if (found.size >= limit) return [...found]
        const entry = this.#entries[slot]
        if (entry && isAt(place, entry, query)) found.add(slot)
      }
    }
    return [...found]
  }

  /** The shortest list of three characters of the query; undefined for a query of fewer. */
  #rarest(query: string): RankedSlots | undefined {
    let rarest: RankedSlots | undefined
    for (let at = 0; at + gramLength <= query.length; at++) {
      const list = this.#lists.get(keyOf(places.inside, query, at)) ?? noSlots
      if (!rarest || list.size < rarest.size) rarest = list
    }
    return rarest
  }

  /** Puts the changed entries into the lists, in their order, so that most go to the end of a list. */
  async #apply(): Promise<void> {
    await inSlices(this.#pending, ([slot, read]) => {
      if (!read) this.#pending.set(slot, foldedName(this.#namedOf(slot), this.#weightOf(slot)))
    })
    const ordered = [...this.#pending]
      .flatMap(([slot, entry]) => (entry ? { slot, entry } : []))
      .sort((left, right) => compareEntries(left.entry, right.entry) || left.slot - right.slot)
    await inSlices(ordered, ({ slot, entry }) => {
      // The entry may have changed meanwhile, or another completion has applied it.
      if (this.#pending.get(slot) !== entry) return
      this.#pending.delete(slot)
      this.#entries[slot] = entry
      for (const key of keysOf(entry)) {
        const list = this.#lists.get(key) ?? new RankedSlots()
        this.#lists.set(key, list)
        list.add(slot, this.#compare)
      }
    })
  }
}

/** A name as completions compare it; `weight` is the factor of the entry's score in a search. */
export function foldedName({ name, package_name, verification_level }: Named, weight: number): Entry {
  const folded = { name: fold(name), package_name: fold(package_name) }
  const quality = Math.round((1 - weight) * 1000) * 10 + verifications.indexOf(verification_level)
  return { ...folded, rank: quality * qualityRank + Math.min(maxNameLength, folded.name.length) }
}

/** Slots in the order of their ranks. */
class RankedSlots {
  size = 0
  #slots = new Uint32Array(2)

  first(limit: number): Uint32Array {
    return this.#slots.subarray(0, Math.min(limit, this.size))
  }

  add(slot: number, compare: (left: number, right: number) => number): void {
    if (this.size === this.#slots.length) {
      const slots = new Uint32Array(Math.ceil(this.size * 1.5))
      slots.set(this.#slots)
      this.#slots = slots
    }
    const isLast = this.size === 0 || compare(this.#slots[this.size - 1] ?? 0, slot) < 0
    const at = isLast ? this.size : this.#indexOf(slot, compare)
    this.#slots.copyWithin(at + 1, at, this.size)
    this.#slots[at] = slot
    this.size++
  }

  remove(slot: number, compare: (left: number, right: number) => number): void {
    const at = this.#indexOf(slot, compare)
    if (this.#slots[at] !== slot || at >= this.size) return
    this.#slots.copyWithin(at, at + 1, this.size)
    this.size--
  }

  #indexOf(slot: number, compare: (left: number, right: number) => number): number {
    let low = 0
    let high = this.size
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compare(this.#slots[middle] ?? 0, slot) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}

function compareEntries(left: Entry, right: Entry): number {
  return left.rank - right.rank || compareAscii(left.package_name, right.package_name)
}

const noSlots = new RankedSlots()

function isAt(place: Place, { name, package_name }: Entry, query: string): boolean {
  if (place === places.nameStart) return name.startsWith(query)
  if (place === places.nameWord) return name.includes(` ${query}`)
  if (place === places.packageWord)
    return package_name.startsWith(query) || package_name.includes(` ${query}`)
  return name.includes(query) || package_name.includes(query)
}

/** The keys of the lists of an entry, each once. */
function keysOf({ name, package_name }: Entry): Set<number> {
  const keys = new Set<number>()
  for (let length = 1; length <= Math.min(gramLength, name.length); length++)
    keys.add(keyOf(places.nameStart, name, 0, length))
  for (let at = 0; at < name.length; at++) {
    if (at === 0 || name[at - 1] !== ' ') continue
    const most = Math.min(gramLength, name.length - at)
    for (let length = 1; length <= most; length++) keys.add(keyOf(places.nameWord, name, at, length))
  }
  for (const text of [name, package_name])
    for (let at = 0; at + gramLength <= text.length; at++) keys.add(keyOf(places.inside, text, at))
  return keys
}

/** A small integer; rarely two keys are equal, so a match is compared again. */
function keyOf(place: Place, text: string, at = 0, length = Math.min(gramLength, text.length - at)): number {
  let key: number = place
  for (let index = 0; index < gramLength; index++)
    key = (key << 9) | (index < length ? text.charCodeAt(at + index) & 0x1ff : 0)
  return key
}

const accents = /\p{Mn}/gu
const separators = /[^\p{L}\p{N}]+/gu

/** Words in lower case without accents, with one space between them. */
export function fold(text: string): string {
  return text
    .slice(0, 300)
    .normalize('NFKD')
    .replace(accents, '')
    .toLowerCase()
    .replace(separators, ' ')
    .trim()
}
