import { nameMember, versionKey } from '../../common/mcp/protocol.ts'
import { isStateless, type Line } from './frame.ts'
import type { Parameters } from './parameters.ts'

/** The headers of a POST; of a message of 2026-07-28 those that repeat it (Standard Request Headers). */
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

/** Streamable HTTP, Value Encoding: what a header cannot hold, or would be taken for the encoding, as Base64. */
export function encoded(value: string): string {
  const plain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !value.startsWith('=?base64?')
  return plain ? value : `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`
}
