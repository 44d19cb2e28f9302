import { intents } from './support/entries.ts'
import { httpLoad, type Shot } from './support/load.ts'
import { compare, type Row, type Subject, startSubject } from './support/measure.ts'

const entries = 10_000
const pageSize = 30
const support = (name: string) => new URL(`./support/${name}.ts`, import.meta.url)

export const post = (path: string, body: unknown): Shot => ({
  method: 'POST',
  path,
  body: JSON.stringify(body),
})
const get = (path: string): Shot => ({ method: 'GET', path })
const withToken = (token: string | undefined, shots: readonly Shot[]): Shot[] =>
  shots.map((shot) => ({ ...shot, headers: { ...shot.headers, Authorization: `Bearer ${token}` } }))

interface Case {
  readonly name: string
  /** Sent in turn. */
  readonly shots: readonly Shot[]
  /** Requests before the measurement, and in each round of it. */
  readonly load?: { readonly warm: number; readonly count: number; readonly rounds: number }
}

/**
 * What callers ask, each against a bare node:http server that serialises the answer to the first request of the case
 * anew for each request: the same request again and again, and different ones in turn, without and with a token.
 */
export async function http(): Promise<Row[]> {
  await using product = await startSubject(support('product'), [String(entries)])
  const { pages, names } = await readPages(product)
  const different = names.map((name) => get(`/public/agents/${encodeURIComponent(name)}`))
  const same = [get(`/public/agents?limit=${pageSize}`)]
  const resolve = names.map((name) => ({
    to: 'svc.registry',
    action: 'resolve_package',
    params: { agent: name },
  }))
  const rpc = names.map((name, id) => ({
    jsonrpc: '2.0',
    id,
    method: 'registry.resolve_package',
    params: { agent: name },
  }))
  const cases: Case[] = [
    { name: 'registry card', shots: [get('/.well-known/agent-card.json')] },
    { name: 'one agent, the same', shots: different.slice(0, 1) },
    { name: 'one agent, different ones', shots: different },
    { name: 'one agent, different ones, with a token', shots: withToken(product.token, different) },
    { name: 'list of 30, the same', shots: same },
    { name: 'list of 30, the same, with a token', shots: withToken(product.token, same) },
    { name: 'list of 30, different pages', shots: pages },
    { name: 'list of 30, different pages, with a token', shots: withToken(product.token, pages) },
    { name: 'list of 30, not modified', shots: [await conditional(product, same)] },
    { name: 'envelope, resolve different agents', shots: resolve.map((body) => post('/a2a/message', body)) },
    { name: 'JSON-RPC, resolve different agents', shots: rpc.map((body) => post('/rpc', body)) },
    {
      name: 'search, never asked before',
      shots: neverAsked(8_000).map((query) => get(`/public/agents?limit=10&q=${encodeURIComponent(query)}`)),
      load: { warm: 1_000, count: 1_000, rounds: 5 },
    },
  ]
  const rows: Row[] = []
  for (const { name, shots, load = {} } of cases) {
    const bare = await bareTwin(product, shots)
    rows.push(
      ...(await compare(
        name,
        { subject: product, load: httpLoad(product.url, shots) },
        { subject: bare, load: httpLoad(bare.url, shots) },
        load,
      )),
    )
    await bare[Symbol.asyncDispose]()
  }
  return rows
}

/** A bare server that gives the answer to the first request. */
async function bareTwin(product: Subject, [shot]: readonly Shot[]): Promise<Subject> {
  const { method, path, body, headers } = shot as Shot
  const typed =
    body === undefined ? { headers } : { headers: { ...headers, 'Content-Type': 'application/json' }, body }
  const answer = await fetch(`${product.url}${path}`, { method, ...(typed as RequestInit) })
  const text = await answer.text()
  return await startSubject(
    support('bare-http'),
    [],
    answer.status === 304 ? { BENCH_NOT_MODIFIED: JSON.stringify(fieldsOf(answer)) } : { BENCH_ANSWER: text },
  )
}

/** The fields that a 304 needs: RFC 9110 section 15.4.5. */
function fieldsOf({ headers }: Response): Record<string, string> {
  return Object.fromEntries(['etag', 'cache-control', 'vary'].map((name) => [name, headers.get(name) ?? '']))
}

/** The requests for every page of the list, each with another cursor, and the names on the pages. */
async function readPages({ url }: Subject): Promise<{ pages: Shot[]; names: string[] }> {
  const pages: Shot[] = []
  const names: string[] = []
  let cursor: string | null = null
  do {
    const path: string = `/public/agents?limit=${pageSize}&sort=name${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`
    pages.push(get(path))
    const page = (await (await fetch(`${url}${path}`)).json()) as {
      agents: { package_name: string }[]
      next_cursor: string | null
    }
    names.push(...page.agents.map(({ package_name }) => package_name))
    cursor = page.next_cursor
  } while (cursor !== null)
  return { pages, names }
}

async function conditional({ url }: Subject, [shot]: readonly Shot[]): Promise<Shot> {
  const { path } = shot as Shot
  const answer = await fetch(`${url}${path}`, { headers: { 'Accept-Encoding': 'identity' } })
  await answer.arrayBuffer()
  return { method: 'GET', path, status: 304, headers: { 'If-None-Match': answer.headers.get('etag') ?? '' } }
}

function neverAsked(count: number): string[] {
  const all = intents()
  return Array.from({ length: count }, (_, at) => {
    const second = all[(at * 7 + Math.floor(at / all.length) * 13 + 1) % all.length] ?? ''
    return `${all[at % all.length]} and ${second.split(' ').slice(0, 3).join(' ')}`
  })
}
