/**
 * Schemathesis with all its checks against our OpenAPI document: as anybody, as two owners who must not see each
 * other's drafts, and once more with a leak planted, which it must find.
 * `node run.ts [results.json]`; SCHEMATHESIS names the program.
 */
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Results } from '../results.ts'
import { type Attack, type Outcome, runAttack } from './attack.ts'
import { leaky } from './leak.ts'

const { SCHEMATHESIS } = process.env
const program = SCHEMATHESIS ? resolve(SCHEMATHESIS) : 'schemathesis'
const [path = 'results/schemathesis.json'] = process.argv.slice(2)

interface Expectation extends Attack {
  /** What is wrong with the outcome. */
  readonly fault: (outcome: Outcome) => string | undefined
  /** Which scenarios are tried is chance: up to this many seeds, until there is no fault; 1 when absent. */
  readonly seeds?: number
}

const attacks: readonly Expectation[] = [
  { name: 'anybody', as: 'anybody', fault: findings },
  { name: 'two owners', as: 'owners', fault: findings },
  {
    name: 'a planted leak is found',
    as: 'owners',
    compose: leaky,
    phases: 'stateful',
    paths: '^/(?:api|public)/agents',
    seeds: 8,
    fault: overlooked,
  },
]

function findings({ exit_code, output, cases }: Outcome): string | undefined {
  if (exit_code !== 0) return `exit code ${exit_code}\n${output}`
  return cases === 0 ? `it tested nothing\n${output}` : undefined
}

function overlooked({ exit_code, output }: Outcome): string | undefined {
  const found = exit_code === 1 && output.includes('ST402 Object-level authorization bypass')
  return found ? undefined : `exit code ${exit_code}, and no ST402\n${output}`
}

const folder = await mkdtemp(join(tmpdir(), 'schemathesis-'))
const results = new Results()
try {
  if (spawnSync(program, ['--version']).status !== 0) {
    console.log(`There is no ${program} here: skipped.`)
    results.pending = attacks.length
  } else {
    await Promise.all(attacks.map(report))
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}
await results.write(path, 'schemathesis')

async function report({ fault, seeds = 1, ...attack }: Expectation): Promise<void> {
  const started = performance.now()
  let wrong: string | undefined
  let generated = 'nothing'
  for (let seed = 1; seed <= seeds; seed++) {
    const outcome = await runAttack(program, join(folder, `${attack.name.replaceAll(' ', '-')}-${seed}`), {
      ...attack,
      seed,
    })
    wrong = fault(outcome)
    generated = /\d+ generated/.exec(outcome.output)?.[0] ?? 'nothing'
    if (wrong === undefined) break
  }
  const seconds = Math.round((performance.now() - started) / 1000)
  console.log(`${attack.name}: ${wrong === undefined ? 'passed' : 'FAILED'}, ${generated}, ${seconds} s`)
  if (wrong === undefined) {
    results.passed += 1
    return
  }
  console.log(wrong)
  results.fail(attack.name, wrong)
}
