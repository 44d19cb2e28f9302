import { isRecord } from '../../../schemas/json.ts'
import { nameMember, versionKey } from '../../common/mcp/protocol.ts'
import { isStateless, type Line } from './frame.ts'

/** The headers of a POST; those of a 2026-07-28 message repeat its members (Standard Request Headers). */
export function requestHeaders(
  line: Line,
  parameters: Pick<Parameters, 'headersOf'>,
): Record<string, string> {
  const headers = {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
  }
  const { message } = line
  if (!isStateless(line) || !('method' in message)) return headers
  const { method, params = {} } = message
  const version = (params._meta as Record<string, unknown>)[versionKey]
  const member = nameMember(method)
  const name = member === undefined ? undefined : params[member]
  return {
    ...headers,
    'MCP-Protocol-Version': encoded(String(version)),
    'Mcp-Method': encoded(method),
    ...(typeof name === 'string' && { 'Mcp-Name': encoded(name) }),
    ...(method === 'tools/call' && parameters.headersOf(params)),
  }
}

/**
 * Encodes a header value (Streamable HTTP, Value Encoding): Base64 for a value that a header cannot hold, or that
 * looks like an encoded value.
 */
function encoded(value: string): string {
  const plain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !value.startsWith('=?base64?')
  return plain ? value : `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`
}

/**
 * The headers that repeat arguments of tools (2026-07-28, `x-mcp-header`), read from the tool lists that pass the
 * bridge.
 */
interface Parameters {
  /** Reads the annotations in the result of a `tools/list`. */
  read(result: unknown): void
  /** The headers for the params of a `tools/call`. */
  headersOf(params: Readonly<Record<string, unknown>>): Record<string, string>
}

interface Declared {
  readonly header: string
  readonly path: readonly string[]
}

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const maxDepth = 20

export function createParameters(): Parameters {
  const tools = new Map<string, readonly Declared[]>()
  return {
    read(result) {
      const listed = isRecord(result) && Array.isArray(result.tools) ? result.tools : []
      for (const tool of listed) {
        if (isRecord(tool) && typeof tool.name === 'string') tools.set(tool.name, declared(tool.inputSchema))
      }
    },
    headersOf({ name, arguments: input }) {
      const headers = typeof name === 'string' ? (tools.get(name) ?? []) : []
      const pairs = headers.map(({ header, path }) => [`Mcp-Param-${header}`, at(input, path)] as const)
      const scalars = pairs.filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
      return Object.fromEntries(scalars.map(([header, value]) => [header, encoded(String(value))]))
    },
  }
}

/** Finds annotated properties on paths of property names. The specification allows the annotation nowhere else. */
function declared(schema: unknown, path: readonly string[] = []): readonly Declared[] {
  if (!isRecord(schema) || path.length > maxDepth) return []
  const header = schema['x-mcp-header']
  const own = typeof header === 'string' && token.test(header) && path.length > 0 ? [{ header, path }] : []
  const properties = isRecord(schema.properties) ? Object.entries(schema.properties) : []
  return [...own, ...properties.flatMap(([name, child]) => declared(child, [...path, name]))]
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, name) => (isRecord(inner) ? inner[name] : undefined), value)
}
