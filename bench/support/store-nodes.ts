import { fork } from 'node:child_process'
import { once } from 'node:events'
import { median, type Row } from './measure.ts'
import type { Publishing } from './publisher.ts'

const callers = 12
const publishes = 600
const rounds = 7

interface Publisher extends AsyncDisposable {
  publish(publishing: Publishing): Promise<void>
}

async function startPublisher(database: string): Promise<Publisher> {
  const child = fork(new URL('./publisher.ts', import.meta.url), {
    env: { ...process.env, DATABASE_URL: database },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  await once(child, 'message')
  return {
    async publish(publishing) {
      child.send(publishing)
      await once(child, 'message')
    },
    async [Symbol.asyncDispose]() {
      child.disconnect()
      await once(child, 'exit')
    },
  }
}

/**
 * Publishes a second by concurrent callers, half of them at each of two nodes over one database, against as many
 * callers at one node over another database. Both nodes index what either writes, so two nodes need the CPU time of
 * more cores: on a busy machine this measures the machine.
 */
export async function publishers(database: string, another: string): Promise<Row> {
  await using first = await startPublisher(database)
  await using second = await startPublisher(database)
  await using single = await startPublisher(another)
  let published = 0
  const rate = async (nodes: readonly Publisher[]) => {
    const started = performance.now()
    const count = publishes / nodes.length
    await Promise.all(
      nodes.map((node) => {
        published += count
        return node.publish({ first: published, count, callers: callers / nodes.length })
      }),
    )
    return publishes / ((performance.now() - started) / 1000)
  }
  await rate([first, second])
  await rate([single])
  const [two, baseline]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    two.push(await rate([first, second]))
    baseline.push(await rate([single]))
  }
  return {
    name: `two nodes on PostgreSQL (one): publishes by ${callers} callers`,
    value: Math.round(median(two)),
    unit: '1/s',
    baseline: Math.round(median(baseline)),
    ratio: Number(median(two.map((rate, at) => rate / (baseline[at] ?? rate))).toPrecision(3)),
  }
}
