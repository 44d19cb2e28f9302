import { post } from './http.ts'
import { httpLoad } from './support/load.ts'
import { compare, type Row, startSubject } from './support/measure.ts'

const support = (name: string) => new URL(`./support/${name}.ts`, import.meta.url)
const version = { 'A2A-Version': '1.0' }
const call = { action: 'resolve_package', params: { package_name: 'svc.utility.wiki' } }
const params = { message: { messageId: 'm-1', role: 'ROLE_USER', parts: [{ data: call }] } }

const shots = {
  'A2A over JSON-RPC': post('/a2a/v1', { jsonrpc: '2.0', id: 1, method: 'SendMessage', params }),
  'A2A over HTTP+JSON': post('/a2a/v1/message:send', params),
}

/**
 * A2A 1.0's SendMessage against a bare server, and against the official SDK's Express handlers, with the same answer.
 */
export async function a2a(): Promise<Row[]> {
  await using product = await startSubject(support('product'), ['100'])
  const rows: Row[] = []
  for (const [name, request] of Object.entries(shots)) {
    const shot = { ...request, headers: version }
    const options = { method: 'POST', headers: { ...version, 'Content-Type': 'application/json' } }
    const answered = await fetch(`${product.url}${shot.path}`, { ...options, body: shot.body ?? '' })
    const answer = await answered.text()
    await using bare = await startSubject(support('bare-http'), [], { BENCH_ANSWER: answer })
    const { message } = JSON.parse(answer).result ?? JSON.parse(answer)
    await using sdk = await startSubject(support('a2a-sdk'), [], { BENCH_ANSWER: JSON.stringify(message) })
    const ours = { subject: product, load: httpLoad(product.url, shot) }
    rows.push(
      ...(await compare(name, ours, { subject: bare, load: httpLoad(bare.url, shot) })),
      ...(await compare(`${name} beside the SDK`, ours, { subject: sdk, load: httpLoad(sdk.url, shot) })),
    )
  }
  return rows
}
