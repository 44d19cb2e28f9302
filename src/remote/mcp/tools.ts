import type { Client, RequestOptions, Tool } from '@modelcontextprotocol/client'
import { type Capability, capabilityOptions } from '../../../schemas/entry-parts.ts'
import { Failure } from '../../../schemas/failure.ts'

export interface ToolListing {
  readonly tools: readonly Tool[]
  /** Milliseconds for which the list is valid, if the server states it. */
  readonly ttl_ms?: number
  /** True if the list is the same for all callers. */
  readonly is_public: boolean
}

const maxPages = 10
const maxTools = 1_000
const maxBytes = 1024 * 1024
const maxNameLength = 200
const maxDescriptionLength = 4_000

/**
 * Reads all pages of `tools/list`. Throws Failure `upstream_invalid` for a list that is too long, and errors of the
 * SDK.
 */
export async function listTools(client: Client, options: RequestOptions): Promise<ToolListing> {
  const { is_cut, ...listing } = await readTools(client, options)
  if (!is_cut) return listing
  throw new Failure(
    'upstream_invalid',
    `The agent lists more than ${maxTools} tools, ${maxPages} pages or ${maxBytes} bytes of them.`,
  )
}

/** The first tools of a server, and whether it lists more. Throws errors of the SDK. */
export async function readTools(
  client: Client,
  options: RequestOptions,
): Promise<ToolListing & { readonly is_cut: boolean }> {
  const tools: Tool[] = []
  let cursor: string | undefined
  let bytes = 0
  for (let page = 0; page < maxPages; page++) {
    const params = cursor === undefined ? {} : { cursor }
    const {
      tools: more,
      nextCursor,
      ...hints
    } = await client.request({ method: 'tools/list', params }, options)
    tools.push(...more)
    bytes += Buffer.byteLength(JSON.stringify(more))
    if (tools.length > maxTools || bytes > maxBytes) break
    if (nextCursor === undefined) return { tools, is_cut: false, ...lifetime(hints) }
    cursor = nextCursor
  }
  return { tools: tools.slice(0, maxTools), is_cut: true, is_public: false }
}

/** SEP-2549; servers of a legacy protocol version send neither field. */
function lifetime({ ttlMs, cacheScope }: { readonly [hint: string]: unknown }): Omit<ToolListing, 'tools'> {
  return { is_public: cacheScope === 'public', ...(typeof ttlMs === 'number' && { ttl_ms: ttlMs }) }
}

/** Tools as capabilities of an entry. */
export function capabilitiesOf(tools: readonly Tool[]): Capability[] {
  return tools
    .filter(({ name }) => name.length > 0 && name.length <= maxNameLength)
    .map(({ name, description = '', inputSchema, outputSchema, annotations, ...stated }) => ({
      name,
      description: description.slice(0, maxDescriptionLength),
      ...capabilityOptions({
        title: stated.title?.slice(0, maxNameLength),
        input_schema: inputSchema,
        output_schema: outputSchema,
        read_only: annotations?.readOnlyHint,
        annotations,
        icons: stated.icons,
        _meta: stated._meta,
      }),
    }))
}
