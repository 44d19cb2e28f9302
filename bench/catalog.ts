import { madeDocuments } from '../test/conformance/mcp-registry/documents.ts'
import { startRegistryReplay } from '../test/support/official-registry.ts'
import { httpLoad, type Shot } from './support/load.ts'
import { compare, median, type Row, startSubject, timed } from './support/measure.ts'

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
  return [...rows, await mirroring()]
}

const mirroredRows = 5000
const rounds = 3

/** Rows of a registry mirrored in a second of CPU time, with all indexes, against storing the same rows. */
async function mirroring(): Promise<Row> {
  await using registry = await startRegistryReplay(madeDocuments(mirroredRows))
  const module = new URL('./support/mirroring.ts', import.meta.url)
  await using product = await startSubject(module, ['gateway', registry.url])
  await using bare = await startSubject(module, ['bare', registry.url])
  const rate = async (subject: typeof product) => {
    const { cpu_us } = await timed(subject, mirroredRows, async () => {
      await (await fetch(subject.url)).text()
    })
    return 1_000_000 / cpu_us
  }
  const pairs: { ours: number; theirs: number }[] = []
  for (let round = 0; round < rounds; round++) {
    pairs.push({ ours: await rate(product), theirs: await rate(bare) })
  }
  const value = Math.round(median(pairs.map(({ ours }) => ours)))
  const baseline = Math.round(median(pairs.map(({ theirs }) => theirs)))
  const name = `mirror of ${mirroredRows} rows, rows per second of CPU`
  return { name, value, unit: '1/s', baseline, ratio: Number((value / baseline).toFixed(3)) }
}

const bareServers = [
  ['serialises', './support/bare-http.ts'],
  ['sends bytes', './support/bare-bytes.ts'],
] as const

interface ServerPage {
  readonly servers: readonly { readonly server: { readonly name: string } }[]
}
