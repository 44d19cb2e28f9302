import type { AgentPage } from '../schemas/search.ts'
import { layout } from '../src/transports/page/site/layout.ts'
import { results } from '../src/transports/page/site/results.ts'
import { sampleEntry } from '../test/support/entries.ts'
import { startGateway } from '../test/support/gateway.ts'
import { median, type Row } from './support/measure.ts'

const rounds = 9
const repeats = 500
const scripts = { page: '/p', call: '/p', play: '/p', publish: '/p' }
const assets = {
  style: '/s',
  theme: '/t',
  scripts,
  icon: '/i',
  inlineIcon: `data:image/svg+xml,${'%3Ca'.repeat(100)}`,
  font: '/f',
}

/** CPU time of a page of 20 agents, against JSON.stringify of the same 20 agents; in microseconds each. */
export async function page(): Promise<Row[]> {
  await using home = await startGateway()
  const { store, tailer } = home.gateway
  const { revision } = await store.write(async (writer) => {
    for (let at = 0; at < 60; at++) {
      const description = `Converts PDF documents number ${at} into clean Markdown, with tables, pictures and footnotes, and keeps the order in which people read them.`
      await writer.put(
        sampleEntry({
          package_name: `com.example.pdf${at}`,
          name: `PDF ${at}`,
          description,
          category: `kind-${at % 12}`,
        }),
      )
    }
  })
  await tailer.caughtUp(revision)
  const path = '/public/agents?q=convert+pdf+to+markdown&limit=20&facets=true'
  const found: AgentPage = (await home.request('GET', path)).json
  const search = new URLSearchParams('q=convert pdf to markdown')
  const works = {
    page: () => layout(results(found, search), undefined, assets).length,
    json: () => JSON.stringify(found.agents).length,
  }
  const times = { page: [] as number[], json: [] as number[] }
  for (let round = -2; round < rounds; round++) {
    for (const name of ['page', 'json'] as const) {
      const microseconds = timeOf(works[name])
      if (round >= 0) times[name].push(microseconds)
    }
  }
  const value = Number(median(times.page).toFixed(1))
  const baseline = Number(median(times.json).toFixed(1))
  return [
    {
      name: 'page of 20 agents, to JSON.stringify of them',
      value,
      unit: 'us',
      baseline,
      ratio: value / baseline,
    },
  ]
}

function timeOf(work: () => number): number {
  const before = process.cpuUsage()
  for (let index = 0; index < repeats; index++) work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / repeats
}
