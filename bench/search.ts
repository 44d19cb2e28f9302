import { intents } from './support/entries.ts'
import { httpLoad, type Shot } from './support/load.ts'
import { compare, type Row, type Subject, startSubject } from './support/measure.ts'

const entries = 10_000

const shotOf = (query: string): Shot => ({
  method: 'POST',
  path: '/api/agents/search',
  body: JSON.stringify({ query, limit: 10 }),
})

/**
 * Searches in process at 1,000, 10,000 and 100,000 agents, compared with other engines (BENCH_SIZES names other
 * sizes), then over 10,000 entries by HTTP against a bare server that serialises such an answer for each request.
 */
export async function search(): Promise<Row[]> {
  const { engines } = await import('./engines.ts')
  const sizes = (process.env.BENCH_SIZES ?? '1000,10000,100000').split(',').filter(Boolean).map(Number)
  const rows: Row[] = []
  for (const size of sizes) rows.push(...(await engines(size)))
  return [...rows, ...(await byHttp())]
}

async function byHttp(): Promise<Row[]> {
  await using product = await startSubject(new URL('./support/product.ts', import.meta.url), [
    String(entries),
  ])
  const all = intents().map(shotOf)
  return [
    ...(await against(product, `${all.length} intents in turn, more than the cache holds`, all)),
    ...(await against(product, 'one intent repeated', all.slice(0, 1))),
  ]
}

async function against(product: Subject, name: string, shots: readonly Shot[]): Promise<Row[]> {
  const [first] = shots
  const headers = { 'Content-Type': 'application/json' }
  const answer = await fetch(`${product.url}/api/agents/search`, {
    method: 'POST',
    headers,
    body: first?.body ?? '',
  })
  const environment = { BENCH_ANSWER: await answer.text() }
  await using bare = await startSubject(new URL('./support/bare-http.ts', import.meta.url), [], environment)
  return await compare(
    `10,000 entries, ${name}`,
    { subject: product, load: httpLoad(product.url, shots) },
    { subject: bare, load: httpLoad(bare.url, shots) },
  )
}
