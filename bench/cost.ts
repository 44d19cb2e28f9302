import { classes, costs } from '../src/router/limiter.ts'
import { post } from './http.ts'
import { httpLoad, type Shot } from './support/load.ts'
import { median, type Row, startSubject, timed } from './support/measure.ts'

interface Measured {
  readonly shot: Shot | readonly Shot[]
  /** Cost units of one request. */
  readonly units: number
}

/** Microseconds of CPU time in a cost unit. */
const unit = 100
const rounds = 5
const count = 300

const rpc = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 1, method, params })
const initialize = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1' },
}
const mcp = { Accept: 'application/json, text/event-stream' }
const queries = Array.from({ length: 600 }, (_, number) => `send message number ${number} to a colleague`)
const publication = (number: number) => ({
  package_name: `com.example.bench-${number}`,
  name: 'An agent of the bench',
  description: 'Counts what is published. '.repeat(20),
  capabilities: Array.from({ length: 20 }, (_, at) => ({
    name: `count_${at}`,
    description: `Counts ${at} and ${number}. `.repeat(5),
  })),
})
const publicationBytes = 5500
const documentBytes = 330_000
const listBytes = 30_000

const measured: Readonly<Record<string, Measured>> = {
  'a read': {
    shot: { method: 'GET', path: '/public/agents/svc.utility.wiki' },
    units: costs.request + classes.read.cost,
  },
  'a list of 30': {
    shot: { method: 'GET', path: '/public/agents?limit=30' },
    units: costs.request + classes.read.cost + listBytes * costs.sentByte,
  },
  'a new search': {
    shot: queries.map((query) => post('/api/agents/search', { query, limit: 5 })),
    units: costs.request + classes.search.cost,
  },
  'initialize of MCP 2025-06-18': {
    shot: { ...post('/mcp', rpc('initialize', initialize)), headers: mcp },
    units: costs.request,
  },
  'tools/list of MCP 2025-06-18': {
    shot: { ...post('/mcp', rpc('tools/list')), headers: mcp },
    units: costs.request,
  },
  'the OpenAPI document': {
    shot: { method: 'GET', path: '/openapi.json' },
    units: costs.request + documentBytes * costs.sentByte,
  },
  'rpc.discover': {
    shot: post('/rpc', rpc('rpc.discover')),
    units: costs.request + classes.read.cost + documentBytes * costs.sentByte,
  },
}

/** What requests cost the gateway, against what the limits charge for them: a ratio above 1 is undercharged. */
export async function cost(): Promise<Row[]> {
  await using gateway = await startSubject(new URL('./support/product.ts', import.meta.url), ['1000'])
  const rows: Row[] = []
  const headers = { Authorization: `Bearer ${gateway.token}` }
  const publications = Array.from({ length: (rounds + 1) * count }, (_, number) => ({
    ...post('/rpc', rpc('registry.publish', publication(number))),
    headers,
  }))
  const writes = {
    'a publication': {
      shot: publications,
      units: costs.request + classes.write.cost + publicationBytes * costs.writtenByte,
    },
  }
  for (const [name, { shot, units }] of Object.entries({ ...measured, ...writes })) {
    const load = httpLoad(gateway.url, shot)
    await load(count)
    const figures: number[] = []
    for (let round = 0; round < rounds; round++) figures.push((await timed(gateway, count, load)).cpu_us)
    const value = median(figures)
    const baseline = units * unit
    rows.push({
      name,
      value: Math.round(value),
      unit: 'us',
      baseline: Math.round(baseline),
      ratio: value / baseline,
    })
  }
  return rows
}
