import { httpLoad, lineLoad, socketLoad } from './support/load.ts'
import { compare, type Row, startSubject } from './support/measure.ts'

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
const params = {
  name: 'resolve_package',
  arguments: { agent: 'svc.utility.wiki', detail: 'full' },
  _meta: meta,
}
const frame = (id: number) => JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params })
const headers = {
  Accept: 'application/json, text/event-stream',
  'MCP-Protocol-Version': '2026-07-28',
  'Mcp-Method': 'tools/call',
  'Mcp-Name': 'resolve_package',
}

const support = (name: string) => new URL(`./support/${name}.ts`, import.meta.url)

/**
 * tools/call of protocol version 2026-07-28 on all three transports, and JSON-RPC, each against its bare counterpart;
 * over HTTP also against the official SDK with a server for each request.
 */
export async function mcp(): Promise<Row[]> {
  await using product = await startSubject(support('product'), ['100'])
  const shot = { method: 'POST', path: '/mcp', headers, body: frame(1) }
  const answered = await fetch(`${product.url}/mcp`, {
    ...shot,
    headers: { ...headers, 'Content-Type': 'application/json' },
  })
  const message = await answered.text()
  const { result } = JSON.parse(message)
  const environment = { BENCH_ANSWER: JSON.stringify(result) }

  await using bareHttp = await startSubject(support('bare-http'), [], { BENCH_ANSWER: message })
  const http = await compare(
    'MCP over HTTP',
    { subject: product, load: httpLoad(product.url, shot) },
    { subject: bareHttp, load: httpLoad(bareHttp.url, shot) },
    // V8 has optimised the gateway's path after some 25,000 calls, and the bare server's path earlier.
    { warm: 40_000 },
  )

  await using sdk = await startSubject(support('mcp-sdk'), [], environment)
  const beside = await compare(
    'MCP over HTTP beside the SDK',
    { subject: product, load: httpLoad(product.url, shot) },
    { subject: sdk, load: httpLoad(sdk.url, shot) },
  )

  await using bareSocket = await startSubject(support('bare-socket'), [], environment)
  const socket = await compare(
    'MCP over WebSocket',
    { subject: product, load: await socketLoad(`${product.url}/mcp/ws`, 'mcp', frame) },
    { subject: bareSocket, load: await socketLoad(bareSocket.url, 'mcp', frame) },
  )
  const method = (id: number) =>
    JSON.stringify({ jsonrpc: '2.0', id, method: 'registry.resolve_package', params: params.arguments })
  const rpc = await compare(
    'JSON-RPC over WebSocket',
    { subject: product, load: await socketLoad(`${product.url}/rpc`, 'jsonrpc', method) },
    { subject: bareSocket, load: await socketLoad(bareSocket.url, 'jsonrpc', method) },
  )

  await using stdio = await startSubject(support('stdio-product'))
  await using bareLines = await startSubject(support('bare-lines'), [], environment)
  const lines = await compare(
    'MCP over stdio',
    { subject: stdio, load: lineLoad(stdio.child, frame) },
    { subject: bareLines, load: lineLoad(bareLines.child, frame) },
  )
  return [...http, ...beside, ...socket, ...rpc, ...lines]
}
