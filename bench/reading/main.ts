// Quality and speed of the reader's text extraction, compared with another extractor on the same pages.
import { parseArgs } from 'node:util'
import { decode } from '../../agents/reader/charset.ts'
import { createExtractor } from '../../agents/reader/extractor.ts'
import { mean, median, type Score, standardError } from './metrics.ts'
import { startPeer } from './peer.ts'
import { htmlOf, type Page, type ReadingSet, readSet } from './sets.ts'

const usage = `npm run eval:reader -- DIR [--split dev] [--every N] [--peer PYTHON] [--worst N] [--json]

DIR has the form of scrapinghub/article-extraction-benchmark or Murrough-Foley/web-content-extraction-benchmark.
PYTHON is an interpreter that has trafilatura, which reads each page right after the reader.`

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    split: { type: 'string', default: 'dev' },
    every: { type: 'string', default: '1' },
    peer: { type: 'string' },
    worst: { type: 'string', default: '0' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const [folder] = positionals
if (values.help || folder === undefined) {
  process.stderr.write(`${usage}\n`)
  process.exit(values.help ? 0 : 1)
}

interface Reading {
  readonly page: Page
  readonly score: Score
  readonly ms: number
  readonly extractor: string
}

const { signal } = new AbortController()
const worker = new URL('../../agents/reader/worker.ts', import.meta.url)
const set = readSet(folder, values.split)
const pages = set.pages.filter((_, index) => index % Number(values.every) === 0)
const ours: Reading[] = []
const theirs: Reading[] = []

await using extractor = createExtractor({ worker, deadline_ms: 60_000, queue_limit: pages.length })
await using peer = values.peer === undefined ? undefined : startPeer(values.peer)
for (const [index, page] of [...pages.slice(0, 5), ...pages].entries()) {
  const mine = await read(page)
  const answer = await peer?.read(page.file)
  if (index < 5) continue
  ours.push(mine)
  if (answer)
    theirs.push({
      page: page,
      score: set.score(answer.text, page.expected),
      ms: answer.ms,
      extractor: 'peer',
    })
}
const throughput = await readAll()

const result = {
  pages: pages.length,
  ours: summaryOf(set, ours),
  ...(theirs.length > 0 && { peer: summaryOf(set, theirs), difference: differenceOf(ours, theirs) }),
  types: typesOf(),
  pages_per_second: {
    ours: throughput,
    ...(theirs.length > 0 && { peer: 1000 / mean(theirs.map(({ ms }) => ms)) }),
  },
}
process.stdout.write(`${JSON.stringify(result, rounded, 2)}\n`)
for (const { page, score, extractor } of ours
  .toSorted((a, b) => a.score.f1 - b.score.f1)
  .slice(0, Number(values.worst))) {
  const { precision, recall, f1 } = score
  process.stderr.write(
    `${page.id} ${page.type} ${extractor} f1 ${f1.toFixed(2)} p ${precision.toFixed(2)} r ${recall.toFixed(2)} ${page.url}\n`,
  )
}

async function read(page: Page): Promise<Reading> {
  const html = decode(htmlOf(page), undefined, true).text
  const started = performance.now()
  const { content, extractor: how } = await extractor.extract({ html, url: page.url, format: 'text' }, signal)
  const ms = performance.now() - started
  return { page, score: set.score(content, page.expected), ms, extractor: how }
}

/** Pages a second when all pages are requested at once. */
async function readAll(): Promise<number> {
  const jobs = pages.map((page) => ({
    html: decode(htmlOf(page), undefined, true).text,
    url: page.url,
    format: 'text' as const,
  }))
  const started = performance.now()
  await Promise.all(jobs.map((job) => extractor.extract(job, signal)))
  return jobs.length / ((performance.now() - started) / 1000)
}

function summaryOf(readingSet: ReadingSet, readings: readonly Reading[]) {
  const times = readings.map(({ ms }) => ms)
  return {
    ...readingSet.summarise(readings.map(({ score }) => score)),
    median_ms: median(times),
    mean_ms: mean(times),
  }
}

/** The difference of F1 page by page, ours minus theirs, with its standard error. */
function differenceOf(mine: readonly Reading[], other: readonly Reading[]) {
  const differences = mine.map(({ score }, index) => score.f1 - (other[index]?.score.f1 ?? 0))
  return { f1: mean(differences), standard_error: standardError(differences) }
}

function typesOf() {
  const names = [...new Set(pages.map(({ type }) => type))]
  const f1 = (readings: readonly Reading[], type: string) =>
    set.summarise(readings.filter(({ page }) => page.type === type).map(({ score }) => score)).f1
  return Object.fromEntries(
    names.map((name) => [
      name,
      {
        pages: ours.filter(({ page }) => page.type === name).length,
        ours: f1(ours, name),
        ...(theirs.length > 0 && { peer: f1(theirs, name) }),
      },
    ]),
  )
}

function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Math.round(value * 10_000) / 10_000 : value
}
