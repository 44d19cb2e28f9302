import { embedderWorker, languagesModel, staticModel } from '../src/app/assets.ts'
import type { Embedder } from '../src/search/embedders/embedder.ts'
import { createStaticEmbedder } from '../src/search/embedders/static/static-embedder.ts'
import { createTransformersEmbedder } from '../src/search/embedders/transformers/transformers-embedder.ts'
import { entryLines, intents } from './support/entries.ts'
import { median, type Row } from './support/measure.ts'

const queries = intents().slice(0, 60)
const documents = entryLines(400).map((line) => (JSON.parse(line) as { description: string }).description)
const { signal } = new AbortController()
/** Calls before the measurement, so that only optimised code is measured. */
const warmups = 50

/**
 * The built-in table against MiniLM int8 in one run; DRAGOMAN_MODEL and DRAGOMAN_EXTRAS name the folders of MiniLM.
 */
export async function embed(): Promise<Row[]> {
  const { DRAGOMAN_MODEL: folder, DRAGOMAN_EXTRAS: extras } = process.env
  if (folder === undefined) {
    process.stderr.write('DRAGOMAN_MODEL names no model folder: the benchmark of embedders is left out.\n')
    return []
  }
  await using table = await createStaticEmbedder(staticModel, languagesModel)
  await using model = await createTransformersEmbedder({ folder, worker: embedderWorker, extras })
  for (let round = 0; round < warmups; round++) {
    for (const query of queries) await table.embed([query], 'query', signal)
  }
  await model.embed(queries, 'query', signal)

  const own: number[] = []
  const other: number[] = []
  for (const query of queries) {
    own.push(await timed(() => table.embed([query], 'query', signal)))
    other.push(await timed(() => model.embed([query], 'query', signal)))
  }
  await rate(table)
  const [ours, theirs] = [await rate(table), await rate(model)]
  return [
    row('one query, static against MiniLM int8, p50', 'us', median(own) * 1000, median(other) * 1000),
    row('texts indexed, static against MiniLM int8', '1/s', ours, theirs),
  ]
}

/** Texts a second. */
async function rate(embedder: Embedder): Promise<number> {
  const milliseconds = await timed(() => embedder.embed(documents, 'document', signal))
  return (documents.length / milliseconds) * 1000
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

function row(name: string, unit: string, value: number, baseline: number): Row {
  const rounded = (number: number) => Number(number.toPrecision(4))
  return {
    name,
    value: rounded(value),
    unit,
    baseline: rounded(baseline),
    ratio: Number((value / baseline).toPrecision(3)),
  }
}
