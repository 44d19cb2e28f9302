import {
  type AttributeField,
  attributeFields,
  type FilteredValue,
  type FilteredValues,
  type FilterField,
  facetNames,
  facets,
  filterFields,
  filters,
  indexedFields,
} from '../../../schemas/entry-fields.ts'
import { compareText } from '../../common/compare.ts'
import type { PostingList } from '../../common/postings.ts'
import {
  type AttributeCondition,
  type AttributeValue,
  type Selection,
  ValueIndex,
} from '../../common/value-index.ts'
import type { Facets, Filter } from '../search-index.ts'

type Value = AttributeValue<AttributeField>
type Condition = AttributeCondition<AttributeField>

/** The fields that publishers state are compared without case. */
const ignoresCase: ReadonlySet<FilterField> = new Set(indexedFields)

export const maxFacetValues = 50

/** The values of the live slots: exact filters and facets. */
export class AttributeIndex {
  readonly #index = new ValueIndex(attributeFields)

  add(slot: number, document: FilteredValues): void {
    this.#index.add(slot, valuesOf(document))
  }

  remove(slot: number, document: FilteredValues): void {
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
export function valuesOf(document: FilteredValues): Value[] {
  const found: Value[] = []
  for (const attribute of attributeFields) {
    for (const text of textsOf(document[attribute] ?? filters[attribute].none)) found.push([attribute, text])
  }
  return found
}

/** What a filter asks of values. Throws RangeError for an unknown filter: an ignored one would let every entry pass. */
export function conditionsOf(filter: Filter): Condition[] {
  for (const name of Object.keys(filter)) {
    if (!Object.hasOwn(filters, name)) throw new RangeError(`The index has no filter ${name}.`)
  }
  return filterFields.flatMap((name): Condition[] => {
    const { of: attribute, compare } = filters[name]
    const values = textsOf(filter[name])
    const texts = ignoresCase.has(attribute) ? values.map((text) => text.toLowerCase()) : values
    if (compare !== 'any') return texts.map((text) => [attribute, text])
    // An empty list excludes nothing, as for tags.
    return texts.length > 0 ? [[attribute, texts]] : []
  })
}

/** The distinct texts of a value. */
function textsOf(value: FilteredValue | undefined): readonly string[] {
  if (value === null || value === undefined) return []
  if (typeof value === 'object') return value.length < 2 ? value : [...new Set(value)]
  return [String(value)]
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
