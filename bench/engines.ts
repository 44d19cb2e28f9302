import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import { openBruteForce } from './engines/brute-force.ts'
import { type Corpus, createCorpus } from './engines/corpus.ts'
import type { Engine, Question } from './engines/engine.ts'
import { openLance } from './engines/lance.ts'
import { openProduct } from './engines/product.ts'
import { openSqlite } from './engines/sqlite.ts'
import { median, type Row } from './support/measure.ts'

const source = fileURLToPath(new URL('./engines/c-scan.c', import.meta.url))

interface Timing {
  readonly p50: number
  readonly p99: number
  readonly cpu: number
}

type Ask = (question: Question) => Promise<readonly string[]>

/** Searches in process over `size` synthetic agents, compared with other engines, one question each in turn. */
export async function engines(size: number): Promise<Row[]> {
  const say = (text: string) => process.stderr.write(`${text}\n`)
  const corpus = createCorpus(size)
  await using stack = new AsyncDisposableStack()
  const before = process.memoryUsage().rss
  const product = stack.use(await openProduct(corpus))
  const memory = (process.memoryUsage().rss - before) / 2 ** 20
  say(`Dragoman, ${size}: built in ${(product.build_ms / 1000).toFixed(1)} s, ${memory.toFixed(0)} MiB`)
  const brute = openBruteForce(corpus)
  const rows: Row[] = []
  const label = (text: string) => `${size.toLocaleString('en')}: ${text}`

  const count = size > 200_000 ? 60 : corpus.questions.length
  const questions = corpus.questions.slice(0, count)
  await recallOf(product, brute, questions.slice(0, 50)).then((recall) => {
    rows.push({ name: label('recall@10 of the scan'), value: recall, unit: '', baseline: 1, ratio: recall })
  })

  const asks: Record<string, Ask> = {
    scan: (question) => askOf(product.scan, question),
    hybrid: (question) => askOf(product.hybrid, question, question.category),
  }
  rows.push(
    row(label('suggest, CPU of a keystroke against 0.3 ms'), 'ms', await suggestions(product, corpus), 0.3),
  )

  const delay = monitorEventLoopDelay({ resolution: 1 })
  await inTurns(asks, questions.slice(0, 60))
  delay.enable()
  const own = await inTurns(asks, questions)
  delay.disable()
  const scan = timing(own, 'scan')
  const hybrid = timing(own, 'hybrid')
  rows.push(row(label('hybrid with filter against the bare scan, p50'), 'ms', hybrid.p50, scan.p50))
  rows.push(row(label('hybrid with filter, p99 against p50'), 'ms', hybrid.p99, hybrid.p50))
  const loop = delay.percentile(99) / 1e6
  rows.push(row(label('event-loop delay under it, p99 against 10 ms'), 'ms', loop, 10))

  const compiled = cScan(size)
  if (compiled === undefined) say('No gcc: the C loop is left out.')
  else rows.push(row(label('scan against a C loop over int8, p50'), 'ms', scan.p50, compiled))

  const slow = questions.slice(0, size >= 100_000 ? 30 : 100)
  const plain = timing(await inTurns({ brute: (question) => askOf(brute.scan, question) }, slow), 'brute')
  rows.push(row(label('scan against brute force in JavaScript, p50'), 'ms', scan.p50, plain.p50))

  if (size <= 100_000) {
    for (const engine of [stack.use(await openLance(corpus)), stack.use(openSqlite(corpus))]) {
      if (!Number.isNaN(engine.build_ms))
        say(`${engine.name}: built in ${(engine.build_ms / 1000).toFixed(1)} s`)
      const theirs = (question: Question) => askOf(engine.hybrid, question, question.category)
      await inTurns({ theirs }, slow.slice(0, 10))
      const timings = await inTurns({ ours: asks.hybrid as Ask, theirs }, slow)
      const [ours, other] = [timing(timings, 'ours'), timing(timings, 'theirs')]
      rows.push(row(label(`hybrid with filter against ${engine.name}, p50`), 'ms', ours.p50, other.p50))
      rows.push(row(label(`hybrid with filter against ${engine.name}, CPU`), 'ms', ours.cpu, other.cpu))
    }
  }
  return rows
}

function askOf(ask: Engine['hybrid'], question: Question, category?: string): Promise<readonly string[]> {
  if (!ask) throw new Error('The engine does not support this search.')
  return ask(question, category)
}

interface Samples {
  readonly wall: number[]
  readonly cpu: number[]
}

/**
 * Asks every subject each question before the next question, so that noise affects all subjects alike. Milliseconds.
 */
async function inTurns(
  subjects: Record<string, Ask>,
  questions: readonly Question[],
): Promise<Map<string, Samples>> {
  const samples = new Map(Object.keys(subjects).map((name) => [name, { wall: [], cpu: [] } as Samples]))
  for (const question of questions) {
    for (const [name, ask] of Object.entries(subjects)) {
      const cpu = process.cpuUsage()
      const started = performance.now()
      await ask(question)
      const wall = performance.now() - started
      const used = process.cpuUsage(cpu)
      samples.get(name)?.wall.push(wall)
      samples.get(name)?.cpu.push((used.user + used.system) / 1000)
    }
  }
  return samples
}

function timing(samples: Map<string, Samples>, name: string): Timing {
  const { wall, cpu } = samples.get(name) as Samples
  const sorted = wall.toSorted((left, other) => left - other)
  const mean = cpu.reduce((sum, item) => sum + item, 0) / cpu.length
  return { p50: median(wall), p99: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN, cpu: mean }
}

/** The share of the true nearest ten that the scan finds. */
async function recallOf(product: Engine, brute: Engine, questions: readonly Question[]): Promise<number> {
  let found = 0
  for (const question of questions) {
    const right = new Set(await askOf(brute.scan, question))
    found += (await askOf(product.scan, question)).filter((id) => right.has(id)).length
  }
  return found / (questions.length * 10)
}

/** Mean CPU milliseconds of a completion, while names, parts of them and package names are typed letter by letter. */
async function suggestions(
  { complete }: { complete(text: string): Promise<readonly string[]> },
  { documents }: Corpus,
): Promise<number> {
  const texts = documents
    .slice(0, 60)
    .flatMap(({ name, package_name }) => [name, name.slice(1), package_name])
  const keystrokes = texts.flatMap((text) => Array.from(text.slice(0, 12), (_, at) => text.slice(0, at + 1)))
  await complete('a')
  const cpu = process.cpuUsage()
  for (const text of keystrokes) await complete(text)
  const { user, system } = process.cpuUsage(cpu)
  return (user + system) / 1000 / keystrokes.length
}

/** Milliseconds of a scan by a plain C loop compiled with gcc; undefined without gcc. */
function cScan(size: number): number | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-c-'))
  try {
    const program = join(folder, 'scan')
    execFileSync('gcc', ['-O3', '-march=native', '-o', program, source], { stdio: 'ignore' })
    const lines = execFileSync(program, [String(size), '60'], { encoding: 'utf8' })
      .trim()
      .split('\n')
    return median(lines.slice(10).map(Number)) / 1000
  } catch {
    return undefined
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function row(name: string, unit: string, value: number, baseline: number): Row {
  const rounded = (number: number) => Number(number.toPrecision(4))
  return { name, value: rounded(value), unit, baseline: rounded(baseline), ratio: rounded(value / baseline) }
}
