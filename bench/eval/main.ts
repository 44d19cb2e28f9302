// Retrieval quality of words alone, of vectors alone and of both, through the product's own import and
// search.
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import type { Gateway } from '../../src/app/gateway.ts'
import { localPrincipal } from '../../src/auth/authenticator.ts'
import { compareAscii } from '../../src/common/compare.ts'
import { IndexTailer } from '../../src/registry/indexing/index-tailer.ts'
import { createMemoryIndex } from '../../src/search/index/memory-index.ts'
import type { SearchIndex } from '../../src/search/search-index.ts'
import { importAll, openEvaluated } from './gateway.ts'
import { heldOut } from './held-out.ts'
import { bootstrap, type Metrics, mean, meanMetrics, measure, metricNames } from './metrics.ts'
import { createMisspeller } from './misspell.ts'
import { type Question, type RetrievalSet, readSet } from './sets.ts'

const usage = `npm run eval -- DIR… [--tools FILE] [--misspelt edits|FILE]… [--json]

DIR holds corpus.jsonl, queries.jsonl and qrels.tsv. The settings of the gateway choose the embedder.
FILE lists MCP servers with their tools: one tool of each server is held out and is the query for the server.
--misspelt asks again with 30 % of the words of at least 5 letters misspelt: by one error each, or as in a FILE of lines
such as \`recieve->receive\`.`

const arms = ['bm25', 'dense', 'hybrid'] as const
type Arm = (typeof arms)[number]
type Results = Readonly<Record<Arm, readonly Metrics[]>>

const depth = 10
const activeOnly = { state: 'ACTIVE' } as const
const { signal } = new AbortController()

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    tools: { type: 'string' },
    misspelt: { type: 'string', multiple: true, default: [] },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const sets = [...positionals.map(readSet), ...(values.tools === undefined ? [] : heldOut(values.tools))]
if (values.help || sets.length === 0) {
  process.stderr.write(`${usage}\n`)
  process.exit(values.help ? 0 : 1)
}

const results = new Map<string, Results>()
/** The results with misspelt questions, by the name of the generator, then of the set. */
const misspelt = new Map<string, Map<string, Results>>()
const skippedOf = new Map<string, readonly Skipped[]>()
for (const set of sets) {
  results.set(set.name, await evaluate(set))
  const skipped = skippedOf.get(set.name) ?? []
  if (skipped.length > 0) console.error(`${set.name}: ${skipped.length} documents were refused and skipped`)
  for (const { id, reason } of skipped.slice(0, 10)) console.error(`  ${id}: ${reason}`)
  if (values.json) continue
  report(set.name, results.get(set.name) as Results)
  for (const [name, bySet] of misspelt) {
    print(`${set.name}, misspelt: ${name}`, summarise(bySet.get(set.name) as Results))
    printLoss(results.get(set.name) as Results, bySet.get(set.name) as Results)
  }
}
const summary = {
  skipped: Object.fromEntries(skippedOf),
  sets: Object.fromEntries([...results].map(([name, result]) => [name, summarise(result)])),
  gains: Object.fromEntries([...results].map(([name, result]) => [name, gainsOf(result)])),
  mean: meanOfSets(results),
  misspelt: Object.fromEntries([...misspelt].map(([name, bySet]) => [name, meanOfSets(bySet)])),
}
if (values.json) {
  process.stdout.write(`${JSON.stringify(summary, null, 2)}\n`)
} else {
  print('mean of the sets', summary.mean)
  for (const [name, figures] of Object.entries(summary.misspelt)) {
    print(`mean of the sets, misspelt: ${name}`, figures)
    const loss = summary.mean.hybrid.ndcg10 - figures.hybrid.ndcg10
    process.stdout.write(`  loss of the hybrid: NDCG@10 ${loss.toFixed(4)}\n`)
  }
}
if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain')

/** Loads the set's corpus into a fresh registry and asks each question with each ranking. */
async function evaluate(set: RetrievalSet): Promise<Results> {
  await using opened = await openEvaluated()
  const { gateway } = opened
  const { idOf, skipped } = await importSet(gateway, set)
  skippedOf.set(set.name, skipped)

  const product = (text: string) => searchAgents(gateway, text)
  /** By vectors alone: a query that the model does not understand has no answer here, not one by words. */
  const documentOf = ({ id }: { id: string }) => idOf.get(id) ?? ''
  const nearest = async (text: string) => {
    const found = await gateway.vectors.meaning?.compare(text.slice(0, 1000), activeOnly, [], signal)
    const near = [...(found?.near.values() ?? [])]
    return near
      .sort(
        (left, right) =>
          right.similarity - left.similarity || compareAscii(documentOf(left), documentOf(right)),
      )
      .slice(0, depth)
      .map(({ id }) => id)
  }
  await using words = await withIndex(gateway, createMemoryIndex())
  const ask = async (questions: readonly Question[]): Promise<Results> => ({
    bm25: await askAll(questions, idOf, words.search),
    dense: await askAll(questions, idOf, nearest),
    hybrid: await askAll(questions, idOf, product),
  })
  const results = await ask(set.questions)
  for (const source of values.misspelt) {
    const { name, misspell, share } = createMisspeller(source)
    const questions = set.questions.map((question) => ({ ...question, text: misspell(question.text) }))
    misspelt.set(name, (misspelt.get(name) ?? new Map()).set(set.name, await ask(questions)))
    console.error(`${set.name}: ${(100 * share()).toFixed(1)} % of the long words misspelt, ${name}`)
  }
  return results
}

type Ask = (text: string) => Promise<readonly string[]>

/** A document that the import refused. Its questions are asked too, and count as not answered by it. */
interface Skipped {
  readonly id: string
  readonly reason: string
}

/** Imports in batches, waits until both indexes have applied them, and returns the entry of each document. */
async function importSet(
  gateway: Gateway,
  set: RetrievalSet,
): Promise<{ idOf: ReadonlyMap<string, string>; skipped: readonly Skipped[] }> {
  const rejected = await importAll(
    gateway,
    set.cards.map((card) => JSON.stringify(card)),
  )
  const skipped = rejected.map(({ line, reason }) => ({ id: set.ids[line - 1] ?? '', reason }))
  const revision = await gateway.store.read.revision()
  const changes = await gateway.store.changes(0, revision)
  const entries = await gateway.store.read.entries([...new Set(changes.map((change) => change.entry_id))])
  const pairs = entries.flatMap((entry): [string, string][] => {
    const number = /^https:\/\/example\.com\/(\d+)$/.exec(entry.source_url ?? '')?.[1]
    const id = number === undefined ? undefined : set.ids[Number(number)]
    return id === undefined ? [] : [[entry.id, id]]
  })
  return { idOf: new Map(pairs), skipped }
}

async function searchAgents(gateway: Gateway, query: string): Promise<string[]> {
  const { output } = await gateway.dispatch(
    { to: 'svc.registry', action: 'search_agents', params: { query: query.slice(0, 1000), limit: depth } },
    { principal: localPrincipal, client: 'local', signal },
  )
  return (output as { agents: { id: string }[] }).agents.map(({ id }) => id)
}

async function withIndex(gateway: Gateway, index: SearchIndex) {
  const stack = new AsyncDisposableStack()
  stack.use(index)
  const tailer = stack.use(
    new IndexTailer(gateway.store, index, (fault) => {
      throw fault
    }),
  )
  await tailer.ready
  const search: Ask = async (text) => {
    const query = { text: text.slice(0, 1000), filter: activeOnly, limit: depth, sort: 'relevance' } as const
    const { hits } = await index.search(query, signal)
    return hits.map(({ id }) => id)
  }
  return { search, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

async function askAll(
  questions: readonly Question[],
  idOf: ReadonlyMap<string, string>,
  ask: Ask,
): Promise<Metrics[]> {
  const measured: Metrics[] = []
  for (const { text, relevant } of questions) {
    const ranking = (await ask(text)).map((id) => idOf.get(id) ?? '')
    measured.push(measure(ranking, relevant))
  }
  return measured
}

function summarise(result: Results): Record<Arm, Metrics> {
  return Object.fromEntries(arms.map((arm) => [arm, meanMetrics(result[arm])])) as Record<Arm, Metrics>
}

function meanOfSets(bySet: ReadonlyMap<string, Results>): Record<Arm, Metrics> {
  return Object.fromEntries(
    arms.map((arm) => [arm, meanMetrics([...bySet.values()].map((result) => meanMetrics(result[arm])))]),
  ) as Record<Arm, Metrics>
}

function printLoss(clean: Results, wrong: Results): void {
  const losses = clean.hybrid.map((item, at) => item.ndcg10 - (wrong.hybrid[at]?.ndcg10 ?? 0))
  const [low, high] = bootstrap(losses)
  process.stdout.write(
    `  loss of the hybrid: NDCG@10 ${signed(mean(losses))}, 95 % interval ${signed(low)} to ${signed(high)}\n`,
  )
}

/** How much NDCG@10 both arms together gain over each of them, with the 95 % interval. */
function gainsOf(result: Results) {
  return (['bm25', 'dense'] as const).map((arm) => {
    const differences = result.hybrid.map((item, at) => item.ndcg10 - (result[arm][at]?.ndcg10 ?? 0))
    return { over: arm, mean: mean(differences), interval: bootstrap(differences) }
  })
}

function report(name: string, result: Results): void {
  print(`${name}, ${result.bm25.length} questions`, summarise(result))
  for (const gain of gainsOf(result)) {
    const [low, high] = gain.interval
    process.stdout.write(
      `  hybrid - ${gain.over}: NDCG@10 ${signed(gain.mean)}, 95 % interval ${signed(low)} to ${signed(high)}\n`,
    )
  }
}

function print(title: string, all: Record<Arm, Metrics>): void {
  process.stdout.write(`${title}\n`)
  for (const arm of arms) {
    const figures = metricNames.map((name) => `${name} ${all[arm][name].toFixed(4)}`).join('  ')
    process.stdout.write(`  ${arm.padEnd(7)} ${figures}\n`)
  }
}

function signed(value: number): string {
  return `${value < 0 ? '' : '+'}${value.toFixed(4)}`
}
