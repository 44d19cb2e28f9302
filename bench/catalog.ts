import { httpLoad, type Shot } from './support/load.ts'
import { compare, type Row, startSubject } from './support/measure.ts'

/**
 * Reads of the API of the MCP registry against a bare node:http server that serialises the same answer for each
 * request, and against one that sends the same bytes each time.
 */
export async function catalog(): Promise<Row[]> {
  await using product = await startSubject(new URL('./support/product.ts', import.meta.url), ['1000'])
  const list = '/v0.1/servers?limit=30'
  const { servers } = (await (await fetch(`${product.url}${list}`)).json()) as ServerPage
  const latest = servers.map(
    ({ server }) => `/v0.1/servers/${encodeURIComponent(server.name)}/versions/latest`,
  )
  const rows: Row[] = []
  const cases = [
    ['MCP registry, list of 30', [list]],
    ['MCP registry, latest of 30 servers in turn', latest],
  ] as const
  for (const [name, paths] of cases) {
    const shots = paths.map((path): Shot => ({ method: 'GET', path }))
    const answer = await fetch(`${product.url}${paths[0]}`, { headers: { 'Accept-Encoding': 'identity' } })
    const text = await answer.text()
    for (const [kind, module] of bareServers) {
      await using bare = await startSubject(new URL(module, import.meta.url), [], { BENCH_ANSWER: text })
      const ours = { subject: product, load: httpLoad(product.url, shots) }
      const theirs = { subject: bare, load: httpLoad(bare.url, shots) }
      rows.push(...(await compare(`${name}, to a server that ${kind}`, ours, theirs)))
    }
  }
  return rows
}

const bareServers = [
  ['serialises', './support/bare-http.ts'],
  ['sends bytes', './support/bare-bytes.ts'],
] as const

interface ServerPage {
  readonly servers: readonly { readonly server: { readonly name: string } }[]
}
