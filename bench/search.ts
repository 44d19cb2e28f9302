import { httpLoad } from './support/load.ts'
import { compare, type Row, startSubject } from './support/measure.ts'

const queries = [
  'send an email',
  'convert a web page to markdown',
  'query a postgres database',
  'schedule a calendar invoice at night',
]

/** A search over 10,000 entries by HTTP against a bare server that serialises the same answer anew. */
export async function search(): Promise<Row[]> {
  await using product = await startSubject(new URL('./support/product.ts', import.meta.url), ['10000'])
  const rows: Row[] = []
  for (const query of queries) {
    const shot = { method: 'POST', path: '/api/agents/search', body: JSON.stringify({ query, limit: 10 }) }
    const answer = await fetch(`${product.url}${shot.path}`, {
      ...shot,
      headers: { 'Content-Type': 'application/json' },
    })
    await using bare = await startSubject(new URL('./support/bare-http.ts', import.meta.url), [], {
      BENCH_ANSWER: await answer.text(),
    })
    const name = `10,000 entries, "${query}"`
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
