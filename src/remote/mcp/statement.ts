import type { Client } from '@modelcontextprotocol/client'
import type { ServerStatement } from '../../../schemas/entry-parts.ts'
import type { McpConnection } from './connector.ts'
import type { McpExchange } from './exchange.ts'
import { maxTimeout_ms } from './sdk.ts'
import { capabilitiesOf, readTools } from './tools.ts'

const maxNameLength = 200
const maxTextLength = 4_000
const maxVersionLength = 100

/** What a connected server states about itself, with its first tools. Throws errors of the SDK. */
export async function statementOf(
  { client }: McpConnection,
  { signal }: McpExchange,
): Promise<ServerStatement> {
  const { tools, is_cut } = await readTools(client, { signal, timeout: maxTimeout_ms })
  return { ...textsOf(client), capabilities: capabilitiesOf(tools), is_cut }
}

function textsOf(client: Client): Omit<ServerStatement, 'capabilities' | 'is_cut'> {
  const { name, title, version, description }: Record<string, unknown> = { ...client.getServerVersion() }
  const stated = {
    name: textOf(name, maxNameLength),
    title: textOf(title, maxNameLength),
    version: textOf(version, maxVersionLength),
    description: textOf(description, maxTextLength),
    instructions: textOf(client.getInstructions(), maxTextLength),
  }
  return Object.fromEntries(Object.entries(stated).filter(([, text]) => text !== undefined))
}

function textOf(text: unknown, maxLength: number): string | undefined {
  if (typeof text !== 'string' || text.trim() === '') return undefined
  return text
    .trim()
    .slice(0, maxLength)
    .replace(/[\uD800-\uDBFF]$/, '')
}
