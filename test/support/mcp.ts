/** A request of MCP 2026-07-28, for every transport. */
export function modernRequest(
  id: string | number,
  method: string,
  params: Record<string, unknown>,
  capabilities: object = {},
): object {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  }
  return {
    jsonrpc: '2.0',
    id,
    method,
    params: { ...params, _meta: { ...(params._meta as object), ...meta } },
  }
}

/** The first request of a client of the 2025 era, for every transport; `params` replace the usual ones. */
export function initialize(id: string | number, params: object = {}): object {
  const usual = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  }
  return { jsonrpc: '2.0', id, method: 'initialize', params: { ...usual, ...params } }
}

/** What such a client says when its first request is answered. */
export const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' }

/** The headers that repeat members of such a request over HTTP. */
export function modernHeaders(method: string, name?: string): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    'MCP-Protocol-Version': '2026-07-28',
    'Mcp-Method': method,
    ...(name !== undefined && { 'Mcp-Name': name }),
  }
}

/** The JSON-RPC message in an answer, sent as JSON or as one server-sent event. */
export function messageIn(text: string): unknown {
  const data = text.split('\n').filter((line) => line.startsWith('data:'))
  const last = data.at(-1)
  return JSON.parse(last === undefined ? text : last.slice('data:'.length))
}
