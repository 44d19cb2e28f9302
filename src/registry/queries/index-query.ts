import { type FilterField, filterFields, filters, mapFields } from '../../../schemas/entry-fields.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { Principal } from '../../../schemas/scope.ts'
import type { SearchQuery } from '../../../schemas/search.ts'
import { principalKey } from '../../common/principal-key.ts'
import type { Filter, IndexQuery } from '../../search/search-index.ts'
import { decodePosition } from './cursor.ts'

/** What a caller asks of the index, for one hit more than the page has, and the question to which its cursors belong. */
export function toIndexQuery(
  input: SearchQuery,
  caller: Principal | null,
): { readonly query: IndexQuery; readonly question: readonly unknown[] } {
  const { query: text, limit, sort, facets, facet_choices, min_score, exact = false } = input
  const filter = toFilter(input.filters ?? {}, caller)
  const question = [
    text ?? '',
    filter,
    sort,
    ...(min_score === undefined ? [] : [min_score]),
    ...(exact ? ['exact'] : []),
  ]
  const after = input.cursor === undefined ? undefined : decodePosition(input.cursor, question)
  const query = {
    limit: limit + 1,
    sort,
    facets,
    ...(facet_choices && { facet_choices }),
    filter,
    ...(text !== undefined && { text }),
    ...(min_score !== undefined && { min_score }),
    ...(exact && { exact }),
    ...(after && { after }),
  }
  return { query, question }
}

/**
 * The filters of a search by index field: the owner by principal key, and `ACTIVE` unless callers ask for their own.
 */
function toFilter(input: NonNullable<SearchQuery['filters']>, caller: Principal | null): Filter {
  if (!input.mine && input.state === 'STAGE') throw needsMine()
  if (input.mine && !caller) throw Failure.needsToken('Asking for your own agents needs a bearer token.')
  const values: Readonly<Record<string, unknown>> = input
  const filterValue = (field: FilterField) => {
    if (field === 'owner') return input.mine && caller ? principalKey(caller) : undefined
    if (field === 'state' && !input.mine) return 'ACTIVE'
    return values[filters[field].name]
  }
  // Always in the order of the table: equal filters have equal cursors and cache keys.
  const present = filterFields.filter((field) => filterValue(field) !== undefined)
  return mapFields(present, filterValue) as Filter
}

function needsMine(): Failure {
  return new Failure('invalid_request', 'Only its owner sees an agent in STAGE.', {
    errors: [{ pointer: '/filters/state', detail: 'Ask with mine: true.' }],
  })
}
