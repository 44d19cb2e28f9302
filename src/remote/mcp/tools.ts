import type { Client, RequestOptions, Tool } from '@modelcontextprotocol/client'
import type { Capability } from '../../../schemas/entry-parts.ts'
import { Failure } from '../../../schemas/failure.ts'

export interface Listing {
  readonly tools: readonly Tool[]
  /** How long it holds, in milliseconds, where the server says so. */
  readonly ttl_ms?: number
  /** Whether it is the same for everybody. */
  readonly is_public: boolean
}

const mostPages = 10
const mostTools = 1_000
const largest = 1024 * 1024
const longestName = 200
const longestDescription = 4_000

/** All pages of `tools/list`. Throws Failure `upstream_invalid` for a list without end, and what the SDK throws. */
export async function listTools(client: Client, options: RequestOptions): Promise<Listing> {
  const tools: Tool[] = []
  let cursor: string | undefined
  let bytes = 0
  for (let page = 0; page < mostPages; page++) {
    const params = cursor === undefined ? {} : { cursor }
    const {
      tools: more,
      nextCursor,
      ...hints
    } = await client.request({ method: 'tools/list', params }, options)
    tools.push(...more)
    bytes += Buffer.byteLength(JSON.stringify(more))
    if (tools.length > mostTools || bytes > largest) break
    if (nextCursor === undefined) return { tools, ...lifetime(hints) }
    cursor = nextCursor
  }
  throw new Failure(
    'upstream_invalid',
    `The agent lists more than ${mostTools} tools, ${mostPages} pages or ${largest} bytes of them.`,
  )
}

/** SEP-2549; servers of the 2025 era say neither. */
function lifetime({ ttlMs, cacheScope }: { readonly [hint: string]: unknown }): Omit<Listing, 'tools'> {
  return { is_public: cacheScope === 'public', ...(typeof ttlMs === 'number' && { ttl_ms: ttlMs }) }
}

/** Tools as what an entry says of an agent. */
export function capabilitiesOf(tools: readonly Tool[]): Capability[] {
  return tools
    .filter(({ name }) => name.length > 0 && name.length <= longestName)
    .map(({ name, description = '', inputSchema, annotations }) => ({
      name,
      description: description.slice(0, longestDescription),
      input_schema: { ...inputSchema },
      ...(annotations?.readOnlyHint !== undefined && { read_only: annotations.readOnlyHint }),
    }))
}
