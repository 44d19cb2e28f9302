import { agentCardType, publisherOf, serverCardType } from '../../../../schemas/ard.ts'
import { Failure } from '../../../../schemas/failure.ts'

/** Filters of `search_agents`, or `nothing` if no agent of this registry can meet the filter. */
export type SearchFilters = Readonly<Record<string, string | readonly string[]>> | 'nothing'

type Values = readonly string[]

/** Media types of the agents that are called by a protocol; an agent that states none has a card of A2A. */
const protocols: ReadonlyMap<string, Values> = new Map([
  [serverCardType, ['mcp']],
  [agentCardType, ['a2a', 'envelope', 'none']],
  ['application/agent-card+json', ['a2a', 'envelope', 'none']],
])

/** How a path of ARD filters agents, and the facet that counts its values. */
interface FilterPath {
  readonly filter: string
  readonly facet: string
  /** The value in the filter, for a path that takes one value alone. */
  readonly isSingle?: true
}

const paths = {
  type: { filter: 'protocol', facet: 'protocols' },
  tags: { filter: 'labels', facet: 'tags' },
  publisher: { filter: 'publisher', facet: 'publishers' },
  'metadata.callable': { filter: 'callable', facet: 'callable' },
  'metadata.protocol': { filter: 'protocol', facet: 'protocols' },
  'metadata.category': { filter: 'category', facet: 'categories', isSingle: true },
  'metadata.license': { filter: 'license', facet: 'licenses', isSingle: true },
} as const satisfies Record<string, FilterPath>

const pathNames = Object.keys(paths).join(', ')

/** The row of a path. Throws Failure `invalid_request` for a path that is not supported. */
export function pathOf(path: string): FilterPath & { readonly name: string } {
  if (Object.hasOwn(paths, path)) return { name: path, ...paths[path as keyof typeof paths] }
  throw new Failure('invalid_request', `The path ${path.slice(0, 100)} is not supported.`, {
    hint: `These are: ${pathNames}.`,
  })
}

/**
 * The filter of a query (section 7.1): OR within the values of a path, AND across paths. Throws Failure
 * `invalid_request`.
 */
export function readFilter(
  filter: Readonly<Record<string, string | Values>>,
  site: { readonly base_url: string },
): SearchFilters {
  const filters: Record<string, string | Values> = {}
  for (const [path, stated] of Object.entries(filter)) {
    const row = pathOf(path)
    const values = translated(path, typeof stated === 'string' ? [stated] : stated, site)
    if (values.length === 0) return 'nothing'
    if (row.isSingle && values.length > 1) throw severalValues(path)
    if (Object.hasOwn(filters, row.filter)) throw statedTwice(path)
    filters[row.filter] = row.isSingle ? (values[0] ?? '') : values
  }
  return filters
}

/** The values of a path as the registry has them. */
function translated(path: string, values: Values, { base_url }: { readonly base_url: string }): Values {
  if (path === 'type')
    return [...new Set(values.flatMap((value) => protocols.get(value.toLowerCase()) ?? []))]
  if (path !== 'publisher') return values
  const own = publisherOf(base_url)
  const domains = values.map((value) => value.toLowerCase()).filter((value) => value !== 'none')
  return domains.includes(own) ? [...domains, 'none'] : domains
}

function severalValues(path: string): Failure {
  return new Failure('invalid_request', `The path ${path} takes one value.`)
}

function statedTwice(path: string): Failure {
  return new Failure('invalid_request', `The path ${path} filters by what another path filters by already.`)
}
