import { LRUCache } from 'lru-cache'
import { isLive } from '../../../schemas/liveness.ts'
import type { Facets, Filter, SearchDocument } from '../search-index.ts'
import { compareText } from './order.ts'
import { type PostingList, Postings } from './postings.ts'

/** What filters ask for. Category, target and tags are lower-case. */
export type Attributes = Pick<
  SearchDocument,
  'state' | 'owner' | 'target' | 'category' | 'tags' | 'liveness' | 'deprecated'
>

/** Slots with `marks[slot] === mark` are in. Valid until the next change. */
export interface Selection {
  readonly marks: Uint16Array
  readonly mark: number
  readonly total: number
}

type Attribute = 'state' | 'owner' | 'target' | 'category' | 'tags' | 'live' | 'deprecated'
type Value = readonly [Attribute, string]

const maxFacetValues = 50
const rememberedSelections = 16

/** Which live slots have which values: exact filters and facets. */
export class AttributeIndex {
  readonly #postings: Readonly<Record<Attribute, Postings>> = {
    state: new Postings(),
    owner: new Postings(),
    target: new Postings(),
    category: new Postings(),
    tags: new Postings(),
    live: new Postings(),
    deprecated: new Postings(),
  }
  #documents = 0
  /** Searches ask for the same again and again, such as what is ACTIVE. */
  readonly #selections = new LRUCache<string, Selection>({ max: rememberedSelections })

  add(slot: number, document: Attributes): void {
    for (const [attribute, value] of valuesOf(document)) this.#postings[attribute].add(value, slot)
    this.#documents++
    this.#forget()
  }

  remove(slot: number, document: Attributes): void {
    for (const [attribute, value] of valuesOf(document)) {
      const list = this.#postings[attribute].get(value)
      if (list) this.#postings[attribute].remove(list, slot)
    }
    this.#documents--
    this.#forget()
  }

  /** The slots, all below `capacity`, that meet every condition. */
  select(filter: Filter, capacity: number): Selection {
    const conditions = conditionsOf(filter)
    const wanted = JSON.stringify(conditions)
    const known = this.#selections.get(wanted)
    if (known) return known
    const selection = this.#mark(conditions, capacity)
    this.#selections.set(wanted, selection)
    return selection
  }

  /** The most frequent values among the slots that pass. */
  facets(passes: (slot: number) => boolean): Facets {
    const { tags, category, target } = this.#postings
    return {
      tags: mostFrequent(tags, passes),
      categories: mostFrequent(category, passes),
      targets: mostFrequent(target, passes),
    }
  }

  #forget(): void {
    if (this.#selections.size > 0) this.#selections.clear()
  }

  #mark(conditions: readonly Value[], capacity: number): Selection {
    const marks = new Uint16Array(capacity)
    const lists = conditions.map(([attribute, value]) => this.#postings[attribute].get(value))
    const known = lists.filter((list) => list !== undefined).sort((one, other) => one.size - other.size)
    if (known.length < lists.length) return { marks, mark: 1, total: 0 }
    const total = known.reduce((_, list, passed) => narrow(marks, list, passed), this.#documents)
    return { marks, mark: known.length, total }
  }
}

function valuesOf(attributes: Attributes): Value[] {
  const { state, owner, target, category, tags, liveness = 'unknown', deprecated = false } = attributes
  return [
    ...value('state', state),
    ...value('owner', owner),
    ...value('target', target),
    ...value('category', category),
    ...[...new Set(tags)].flatMap((tag) => value('tags', tag)),
    ...value('live', isLive(liveness)?.toString()),
    ...value('deprecated', deprecated.toString()),
  ]
}

function conditionsOf({ state, owner, target, category, tags = [], live, deprecated }: Filter): Value[] {
  return [
    ...value('state', state),
    ...value('owner', owner),
    ...value('target', target?.toLowerCase()),
    ...value('category', category?.toLowerCase()),
    ...tags.flatMap((tag) => value('tags', tag.toLowerCase())),
    ...value('live', live?.toString()),
    ...value('deprecated', deprecated?.toString()),
  ]
}

function value(attribute: Attribute, text: string | null | undefined): Value[] {
  return text === null || text === undefined ? [] : [[attribute, text]]
}

/** Marks the slots that are in the list and in the `passed` lists before it; says how many they are. */
function narrow(marks: Uint16Array, { slots, size }: PostingList, passed: number): number {
  let total = 0
  for (let index = 0; index < size; index++) {
    const slot = slots[index] ?? 0
    if (marks[slot] !== passed) continue
    marks[slot] = passed + 1
    total++
  }
  return total
}

function mostFrequent(postings: Postings, passes: (slot: number) => boolean): Record<string, number> {
  const counts: [string, number][] = []
  for (const { key, slots, size } of postings.lists()) {
    let count = 0
    for (let index = 0; index < size; index++) if (passes(slots[index] ?? 0)) count++
    if (count > 0) counts.push([key, count])
  }
  counts.sort((one, other) => other[1] - one[1] || compareText(one[0], other[0]))
  return Object.fromEntries(counts.slice(0, maxFacetValues))
}
