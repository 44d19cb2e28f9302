import {
  facetNames,
  facets,
  filters,
  type IndexedField,
  indexedFields,
  mapFields,
} from '../../../schemas/entry-fields.ts'
import { isLive } from '../../../schemas/liveness.ts'
import { compareText } from '../../common/compare.ts'
import type { PostingList } from '../../common/postings.ts'
import {
  type AttributeCondition,
  type AttributeValue,
  type Selection,
  ValueIndex,
} from '../../common/value-index.ts'
import type { Facets, Filter, SearchDocument } from '../search-index.ts'

/** The attributes of filters; lower-case where filters compare without case. */
export type IndexedAttributes = Pick<
  SearchDocument,
  | IndexedField
  | 'state'
  | 'owner'
  | 'liveness'
  | 'callable'
  | 'protocol'
  | 'publisher'
  | 'package_types'
  | 'verification_level'
  | 'deprecated'
>

type Value = AttributeValue<keyof Filter>
type Condition = AttributeCondition<keyof Filter>

/** Every filter has a row: a missing one does not compile. */
const values: {
  readonly [Name in keyof Filter]-?: {
    readonly ofDocument: (document: IndexedAttributes) => readonly Text[]
    readonly ofFilter: (filter: NonNullable<Filter[Name]>) => readonly Text[]
    /** The attribute whose values the filter selects, if another filter has them. */
    readonly attribute?: keyof Filter
  }
} = {
  state: { ofDocument: ({ state }) => [state], ofFilter: (state) => [state] },
  owner: { ofDocument: ({ owner }) => [owner], ofFilter: (owner) => [owner] },
  ...mapFields(indexedFields, (name) => ({
    ofDocument: (document: IndexedAttributes) => distinct(document[name]),
    ofFilter: (filter: Text | readonly Text[]) => distinct(filter).map((text) => text?.toLowerCase()),
  })),
  callable: {
    ofDocument: ({ callable }) => [callable],
    ofFilter: distinct,
  },
  labels: {
    attribute: 'tags',
    ofDocument: () => [],
    ofFilter: (tags) => distinct(tags).map((tag) => tag?.toLowerCase()),
  },
  protocol: { ofDocument: ({ protocol }) => [protocol ?? 'none'], ofFilter: distinct },
  publisher: {
    ofDocument: ({ publisher }) => [publisher ?? 'none'],
    ofFilter: (domains) => distinct(domains).map((domain) => domain?.toLowerCase()),
  },
  package_types: {
    ofDocument: ({ package_types = [] }) => distinct(package_types),
    ofFilter: distinct,
  },
  verification_level: {
    ofDocument: ({ verification_level = 'unclaimed' }) => [verification_level],
    ofFilter: distinct,
  },
  live: {
    ofDocument: ({ liveness = 'unknown' }) => [isLive(liveness)?.toString()],
    ofFilter: (live) => [live.toString()],
  },
  deprecated: {
    ofDocument: ({ deprecated = false }) => [deprecated.toString()],
    ofFilter: (deprecated) => [deprecated.toString()],
  },
}

type Text = string | null | undefined

export const attributes = Object.keys(values) as (keyof Filter)[]
export const maxFacetValues = 50

/** The values of the live slots: exact filters and facets. */
export class AttributeIndex {
  readonly #index = new ValueIndex(attributes)

  add(slot: number, document: IndexedAttributes): void {
    this.#index.add(slot, valuesOf(document))
  }

  remove(slot: number, document: IndexedAttributes): void {
    this.#index.remove(slot, valuesOf(document))
  }

  /** The slots, all below `capacity`, that meet every condition. */
  select(filter: Filter, capacity: number): Selection {
    return this.#index.select(conditionsOf(filter), capacity)
  }

  /** The most frequent values among the slots that pass. */
  facets(passes: (slot: number) => boolean): Facets {
    const counts = facetNames.map((name) => [name, countValues(this.#index.lists(facets[name]), passes)])
    return Object.fromEntries(counts) as Facets
  }
}

/** The values of a document. A loop, since each start runs it for every document. */
export function valuesOf(document: IndexedAttributes): Value[] {
  const found: Value[] = []
  for (const attribute of attributes) {
    for (const text of values[attribute].ofDocument(document)) {
      if (text !== null && text !== undefined) found.push([attribute, text])
    }
  }
  return found
}

/** What a filter asks of values. Throws RangeError for a filter without a row: an ignored filter would let every entry pass. */
export function conditionsOf(filter: Filter): Condition[] {
  for (const name of Object.keys(filter)) {
    if (!Object.hasOwn(values, name)) throw new RangeError(`The index has no filter ${name}.`)
  }
  return attributes.flatMap((name): Condition[] => {
    const value: unknown = filter[name]
    if (value === undefined) return []
    const { attribute = name } = values[name]
    const ofFilter = values[name].ofFilter as (filter: unknown) => readonly Text[]
    const conditions = pairs(attribute, ofFilter(value))
    // An empty list excludes nothing, as for tags.
    const isChoice = filters[name].compare === 'any' && conditions.length > 0
    return isChoice ? [[attribute, conditions.map(([, text]) => text)]] : conditions
  })
}

function distinct(value: Text | readonly Text[]): readonly Text[] {
  if (!Array.isArray(value)) return [value as Text]
  return value.length < 2 ? value : [...new Set(value)]
}

function pairs(attribute: keyof Filter, texts: readonly Text[]): Value[] {
  return texts.flatMap((text) => (text === null || text === undefined ? [] : [[attribute, text] as const]))
}

function countValues(
  lists: Iterable<PostingList>,
  passes: (slot: number) => boolean,
): Record<string, number> {
  const counts: [string, number][] = []
  for (const { key, slots, size } of lists) {
    let count = 0
    for (let index = 0; index < size; index++) if (passes(slots[index] ?? 0)) count++
    if (count > 0) counts.push([key, count])
  }
  counts.sort((left, right) => right[1] - left[1] || compareText(left[0], right[0]))
  return Object.fromEntries(counts.slice(0, maxFacetValues))
}
