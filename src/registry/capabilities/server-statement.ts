import type { Endpoint, ServerStatement } from '../../../schemas/entry-parts.ts'

/** Reads what the server at an endpoint states. Throws Failure. */
export type ReadServer = (endpoint: Endpoint, signal: AbortSignal) => Promise<ServerStatement>

const maxNamed = 20

/** The texts by which a server introduces itself. */
export function introduction({ title, name, ...statement }: ServerStatement) {
  return {
    name: title ?? name,
    description: statement.description ?? statement.instructions,
    version: statement.version ?? null,
  }
}

/** An MCP server as a card in the registry's own form, without its tools. */
export function introduce(server: ServerStatement, url: string): Record<string, unknown> {
  const { name = new URL(url).host, description = toolsOf(server), version } = introduction(server)
  return { name, description, ...(version !== null && { version }), endpoints: [{ protocol: 'mcp', url }] }
}

function toolsOf({ capabilities }: ServerStatement): string {
  const names = capabilities.slice(0, maxNamed).map((capability) => capability.name)
  return names.length > 0 ? `MCP server with the tools ${names.join(', ')}.` : 'MCP server.'
}
