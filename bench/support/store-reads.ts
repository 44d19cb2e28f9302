import { httpLoad, type Shot } from './load.ts'
import { compare, median, type Row, type Subject, startSubject } from './measure.ts'

const entries = '1000'
const count = 4000
const rounds = 7
const module = new URL('./product.ts', import.meta.url)

const shots: Record<string, Shot> = {
  'list of 30': { method: 'GET', path: '/public/agents?limit=30' },
  'one agent': { method: 'GET', path: '/public/agents/svc.utility.wiki' },
}

/** The most frequent anonymous reads, from a gateway over PostgreSQL against a gateway over SQLite. */
export async function reads(database: string): Promise<Row[]> {
  await using ours = await startSubject(module, [entries], { DATABASE_URL: database })
  await using embedded = await startSubject(module, [entries])
  const rows: Row[] = []
  for (const [name, shot] of Object.entries(shots)) {
    rows.push(
      ...(await compare(
        `PostgreSQL: ${name} (SQLite)`,
        { subject: ours, load: httpLoad(ours.url, shot) },
        { subject: embedded, load: httpLoad(embedded.url, shot) },
        { rounds },
      )),
    )
  }
  return rows
}

/**
 * Requests to two gateways over one PostgreSQL at the same time, against requests to one of them alone. The load
 * generator and the database run on the same machine, so the measure is requests in a second of the gateways' own CPU
 * time, with one core for each gateway.
 */
export async function nodes(database: string): Promise<Row[]> {
  await using first = await startSubject(module, [entries], { DATABASE_URL: database })
  await using second = await startSubject(module, [entries], { DATABASE_URL: database })
  const rows: Row[] = []
  for (const [name, shot] of Object.entries(shots)) {
    const ask = [first, second].map((node) => ({ node, load: httpLoad(node.url, shot) })) as [
      Request,
      Request,
    ]
    const both = async () => {
      const rates = await Promise.all(ask.map(perCpuSecond))
      return rates.reduce((sum, rate) => sum + rate)
    }
    await both()
    const [two, baseline]: [number[], number[]] = [[], []]
    for (let round = 0; round < rounds; round++) {
      two.push(await both())
      baseline.push(await perCpuSecond(ask[round % 2] as Request))
    }
    rows.push({
      name: `two nodes on PostgreSQL (one): ${name}, by the gateways' CPU`,
      value: Math.round(median(two)),
      unit: '1/s',
      baseline: Math.round(median(baseline)),
      ratio: Number(median(two.map((rate, at) => rate / (baseline[at] ?? rate))).toPrecision(3)),
    })
  }
  return rows
}

interface Request {
  readonly node: Subject
  readonly load: (count: number) => Promise<void>
}

async function perCpuSecond({ node, load }: Request): Promise<number> {
  const before = await node.cpu()
  await load(count)
  return (count * 1_000_000) / ((await node.cpu()) - before)
}
