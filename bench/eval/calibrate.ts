// The coefficients of src/search/index/confidence.ts: a logistic regression on the calibration requests (the first hit
// of one that agents serve fits; the first three of one that none serves do not) and on the open intents (their first
// ten hits, by the patterns of right agents).
import { type Agent, ask, Intent, importLists, isRight, Request, read } from './asking.ts'
import { openEvaluated } from './gateway.ts'

const paths = process.argv.slice(2)
if (paths.length === 0) {
  process.stderr.write('npm run eval:calibrate -- LIST…\n')
  process.exit(1)
}

interface Sample {
  readonly similarity: number | null
  readonly coverage: number
  readonly fits: boolean
}

const rounds = 50
/** Keeps the regression from diverging where one feature tells all. */
const ridge = 0.01

await using opened = await openEvaluated()
const { gateway } = opened
await importLists(gateway, paths)
const samples = [...(await ofRequests()), ...(await ofIntents())]
const compared = samples.filter(({ similarity }) => similarity !== null)
print(
  'with similarity: intercept, similarity, coverage',
  regress(
    compared.map(({ similarity, coverage, fits }) => ({ inputs: [1, similarity ?? 0, coverage], fits })),
  ),
)
print(
  'by words alone: intercept, coverage',
  regress(samples.map(({ coverage, fits }) => ({ inputs: [1, coverage], fits }))),
)

async function ofRequests(): Promise<Sample[]> {
  const found: Sample[] = []
  for (const { text, served } of read('fit/calibration.jsonl', Request)) {
    const { agents } = await ask(gateway, text)
    found.push(...agents.slice(0, served ? 1 : 3).map((agent) => sampleOf(agent, served)))
  }
  return found
}

async function ofIntents(): Promise<Sample[]> {
  const found: Sample[] = []
  for (const intent of read('intents/english/open.jsonl', Intent)) {
    const { agents } = await ask(gateway, intent.text)
    found.push(...agents.map((agent) => sampleOf(agent, isRight(intent, agent))))
  }
  return found
}

function sampleOf({ match }: Agent, fits: boolean): Sample {
  return { similarity: match.similarity, coverage: match.scores.coverage ?? 0, fits }
}

/** Newton's method. */
function regress(all: readonly { readonly inputs: readonly number[]; readonly fits: boolean }[]): number[] {
  const size = all[0]?.inputs.length ?? 0
  let weights = Array<number>(size).fill(0)
  for (let round = 0; round < rounds; round++) {
    const gradient = weights.map((weight) => ridge * weight)
    const hessian = weights.map((_, row) => weights.map((__, column): number => (row === column ? ridge : 0)))
    for (const { inputs, fits } of all) {
      const probability = 1 / (1 + Math.exp(-dot(weights, inputs)))
      for (const [row, input] of inputs.entries()) {
        gradient[row] = (gradient[row] ?? 0) + (probability - (fits ? 1 : 0)) * input
        const line = hessian[row] ?? []
        for (const [column, other] of inputs.entries())
          line[column] = (line[column] ?? 0) + probability * (1 - probability) * input * other
      }
    }
    const step = solve(hessian, gradient)
    weights = weights.map((weight, at) => weight - (step[at] ?? 0))
  }
  return weights
}

/** Gaussian elimination; the matrix is positive definite, so it needs no pivots. */
function solve(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((row, at) => [...row, right[at] ?? 0])
  for (const [at, pivot] of rows.entries()) {
    for (const [below, row] of rows.entries()) {
      if (below === at) continue
      const factor = (row[at] ?? 0) / (pivot[at] ?? 1)
      for (const [column, value] of pivot.entries()) row[column] = (row[column] ?? 0) - factor * value
    }
  }
  return rows.map((row, at) => (row.at(-1) ?? 0) / (row[at] ?? 1))
}

function dot(left: readonly number[], right: readonly number[]): number {
  return left.reduce((sum, value, at) => sum + value * (right[at] ?? 0), 0)
}

function print(name: string, weights: readonly number[]): void {
  process.stdout.write(`${name}: ${weights.map((weight) => weight.toFixed(2)).join(', ')}\n`)
}
