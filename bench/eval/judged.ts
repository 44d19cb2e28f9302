// How two judges, who read the answers and not the patterns, judge the first three agents of every intent.
import { z } from 'zod'
import { read } from './asking.ts'
import { bootstrap, mean } from './metrics.ts'

const judges = ['pattern', 'first', 'second'] as const
type Judge = (typeof judges)[number]
const right = z.array(z.boolean())
const Judged = z.object({
  set: z.string(),
  text: z.string(),
  agents: z.array(z.string()),
  pattern: right,
  first: right,
  second: right,
})
type Judged = z.infer<typeof Judged>

const all = read('intents/judged.jsonl', Judged)
for (const [name, has] of [
  ['English, open', (set: string) => set === 'english-open'],
  ['English, closed', (set: string) => set === 'english-closed'],
  ['nine other languages', (set: string) => !set.startsWith('english')],
] as const) {
  const judged = all.filter(({ set }) => has(set))
  process.stdout.write(`${name} (${judged.length} intents)\n`)
  for (const judge of judges)
    process.stdout.write(
      `  ${judge.padEnd(8)} success@1 ${success(judged, judge, 1)}  success@3 ${success(judged, judge, 3)}\n`,
    )
  for (const [judge, other] of [
    ['first', 'second'],
    ['pattern', 'first'],
  ] as const)
    process.stdout.write(`  ${judge} and ${other} agree on ${agreement(judged, judge, other)}\n`)
}

function success(judged: readonly Judged[], judge: Judge, depth: number): string {
  const hits: number[] = judged.map((each) => (each[judge].slice(0, depth).some(Boolean) ? 1 : 0))
  const [low, high] = bootstrap(hits)
  return `${mean(hits).toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`
}

/** The share of agents that both judge alike, and Cohen's kappa (Cohen 1960). */
function agreement(judged: readonly Judged[], judge: Judge, other: Judge): string {
  const pairs = judged.flatMap((each) =>
    each[judge].map((isRight, at) => [isRight, each[other][at] === true] as const),
  )
  const share = (holds: (pair: readonly [boolean, boolean]) => boolean) =>
    pairs.filter(holds).length / pairs.length
  const observed = share(([left, right]) => left === right)
  const [left, right] = [share(([isRight]) => isRight), share(([, isRight]) => isRight)]
  const expected = left * right + (1 - left) * (1 - right)
  return `${(100 * observed).toFixed(0)} % of the agents (kappa ${((observed - expected) / (1 - expected)).toFixed(2)})`
}
