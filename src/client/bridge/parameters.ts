import { isRecord } from '../../../schemas/json.ts'
import { encoded } from './headers.ts'

/** The headers that repeat parameters of tools (2026-07-28, `x-mcp-header`), by the lists of tools that passed. */
export interface Parameters {
  /** From the result of a `tools/list`. */
  learn(result: unknown): void
  /** For the params of a `tools/call`. */
  headersOf(params: Readonly<Record<string, unknown>>): Record<string, string>
}

interface Declared {
  readonly header: string
  readonly path: readonly string[]
}

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const deepest = 20

export function createParameters(): Parameters {
  const tools = new Map<string, readonly Declared[]>()
  return {
    learn(result) {
      const listed = isRecord(result) && Array.isArray(result.tools) ? result.tools : []
      for (const tool of listed) {
        if (isRecord(tool) && typeof tool.name === 'string') tools.set(tool.name, declared(tool.inputSchema))
      }
    },
    headersOf({ name, arguments: input }) {
      const headers = typeof name === 'string' ? (tools.get(name) ?? []) : []
      const pairs = headers.map(({ header, path }) => [`Mcp-Param-${header}`, at(input, path)] as const)
      const stated = pairs.filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
      return Object.fromEntries(stated.map(([header, value]) => [header, encoded(String(value))]))
    },
  }
}

/** Properties that are reached by names alone; elsewhere the annotation is not allowed. */
function declared(schema: unknown, path: readonly string[] = []): readonly Declared[] {
  if (!isRecord(schema) || path.length > deepest) return []
  const header = schema['x-mcp-header']
  const own = typeof header === 'string' && token.test(header) && path.length > 0 ? [{ header, path }] : []
  const properties = isRecord(schema.properties) ? Object.entries(schema.properties) : []
  return [...own, ...properties.flatMap(([name, child]) => declared(child, [...path, name]))]
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, name) => (isRecord(inner) ? inner[name] : undefined), value)
}
