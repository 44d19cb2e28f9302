import { httpLoad, type Shot } from './support/load.ts'
import { compare, type Row, startSubject } from './support/measure.ts'

export const post = (path: string, body: unknown): Shot => ({
  method: 'POST',
  path,
  body: JSON.stringify(body),
})
const search = { query: 'send an email', limit: 5 }

const shots: Record<string, Shot> = {
  'registry card': { method: 'GET', path: '/.well-known/agent-card.json' },
  'one agent': { method: 'GET', path: '/public/agents/svc.utility.wiki' },
  'list of 30': { method: 'GET', path: '/public/agents?limit=30' },
  'envelope, resolve': post('/a2a/message', {
    to: 'custom.svc.registry',
    action: 'resolve_package',
    params: { package_name: 'svc.utility.wiki' },
  }),
  'JSON-RPC, resolve': post('/rpc', {
    jsonrpc: '2.0',
    id: 1,
    method: 'registry.resolve_package',
    params: { package_name: 'svc.utility.wiki' },
  }),
  'envelope, search': post('/a2a/message', { to: 'custom.svc.registry', action: 'search', params: search }),
}

/** Each request against a bare node:http server that serialises the same answer for each request. */
export async function http(): Promise<Row[]> {
  await using product = await startSubject(new URL('./support/product.ts', import.meta.url), ['1000'])
  const rows: Row[] = []
  for (const [name, shot] of Object.entries(shots)) {
    const answer = await fetch(`${product.url}${shot.path}`, {
      method: shot.method,
      ...(shot.body && { body: shot.body, headers: { 'Content-Type': 'application/json' } }),
    })
    await using bare = await startSubject(new URL('./support/bare-http.ts', import.meta.url), [], {
      BENCH_ANSWER: await answer.text(),
    })
    rows.push(
      ...(await compare(
        name,
        { subject: product, load: httpLoad(product.url, shot) },
        { subject: bare, load: httpLoad(bare.url, shot) },
      )),
    )
  }
  return rows
}
