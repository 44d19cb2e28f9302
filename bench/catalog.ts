import { httpLoad, type Shot } from './support/load.ts'
import { compare, type Row, startSubject } from './support/measure.ts'

/** Reads of the API of the MCP registry against a bare node:http server that sends the same bytes. */
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
    await using bare = await startSubject(new URL('./support/bare-bytes.ts', import.meta.url), [], {
      BENCH_ANSWER: await answer.text(),
    })
    rows.push(
      ...(await compare(
        name,
        { subject: product, load: httpLoad(product.url, shots) },
        { subject: bare, load: httpLoad(bare.url, shots) },
      )),
    )
  }
  return rows
}

interface ServerPage {
  readonly servers: readonly { readonly server: { readonly name: string } }[]
}
