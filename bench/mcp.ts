import { httpLoad, lineLoad, socketLoad } from './support/load.ts'
import { compare, type Row, type Subject, startSubject } from './support/measure.ts'

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
const call = { name: 'resolve_package', arguments: { agent: 'svc.utility.wiki', detail: 'full' } }
const accept = { Accept: 'application/json, text/event-stream' }

interface Era {
  readonly version: string
  readonly params: object
  readonly headers: Readonly<Record<string, string>>
}

/** The protocol version that needs no session, and the one that most hosts speak. */
const eras: readonly Era[] = [
  {
    version: '2026-07-28',
    params: { ...call, _meta: meta },
    headers: {
      ...accept,
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'tools/call',
      'Mcp-Name': call.name,
    },
  },
  { version: '2025-06-18', params: call, headers: { ...accept, 'MCP-Protocol-Version': '2025-06-18' } },
]

const support = (name: string) => new URL(`./support/${name}.ts`, import.meta.url)

/**
 * tools/call on all three transports, and JSON-RPC, each against its bare counterpart; over HTTP also against the
 * official SDK with a server for each request.
 */
export async function mcp(): Promise<Row[]> {
  await using product = await startSubject(support('product'), ['100'])
  const rows: Row[] = []
  for (const era of eras) rows.push(...(await compareEra(product, era)))
  return [...rows, ...(await jsonRpc(product))]
}

async function compareEra(product: Subject, { version, params, headers }: Era): Promise<Row[]> {
  const frame = (id: number) => JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params })
  const shot = { method: 'POST', path: '/mcp', headers, body: frame(1) }
  const answered = await fetch(`${product.url}/mcp`, {
    ...shot,
    headers: { ...headers, 'Content-Type': 'application/json' },
  })
  const message = await answered.text()
  const environment = { BENCH_ANSWER: JSON.stringify(JSON.parse(message).result) }

  await using bareHttp = await startSubject(support('bare-http'), [], { BENCH_ANSWER: message })
  const http = await compare(
    `MCP ${version} over HTTP`,
    { subject: product, load: httpLoad(product.url, shot) },
    { subject: bareHttp, load: httpLoad(bareHttp.url, shot) },
    // V8 has optimised the gateway's path after some 25,000 calls, and the bare server's path earlier.
    { warm: 40_000 },
  )

  await using sdk = await startSubject(support('mcp-sdk'), [], environment)
  const beside = await compare(
    `MCP ${version} over HTTP beside the SDK`,
    { subject: product, load: httpLoad(product.url, shot) },
    { subject: sdk, load: httpLoad(sdk.url, shot) },
  )

  await using bareSocket = await startSubject(support('bare-socket'), [], environment)
  const socket = await compare(
    `MCP ${version} over WebSocket`,
    { subject: product, load: await socketLoad(`${product.url}/mcp/ws`, 'mcp', frame) },
    { subject: bareSocket, load: await socketLoad(bareSocket.url, 'mcp', frame) },
  )

  await using stdio = await startSubject(support('stdio-product'))
  await using bareLines = await startSubject(support('bare-lines'), [], environment)
  const lines = await compare(
    `MCP ${version} over stdio`,
    { subject: stdio, load: lineLoad(stdio.child, frame) },
    { subject: bareLines, load: lineLoad(bareLines.child, frame) },
  )
  return [...http, ...beside, ...socket, ...lines]
}

async function jsonRpc(product: Subject): Promise<Row[]> {
  const method = (id: number) =>
    JSON.stringify({ jsonrpc: '2.0', id, method: 'registry.resolve_package', params: call.arguments })
  const answered = await fetch(`${product.url}/rpc`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: method(1),
  })
  const { result } = (await answered.json()) as { result: unknown }
  await using bareSocket = await startSubject(support('bare-socket'), [], {
    BENCH_ANSWER: JSON.stringify(result),
  })
  return await compare(
    'JSON-RPC over WebSocket',
    { subject: product, load: await socketLoad(`${product.url}/rpc`, 'jsonrpc', method) },
    { subject: bareSocket, load: await socketLoad(bareSocket.url, 'jsonrpc', method) },
  )
}
