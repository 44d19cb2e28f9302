/**
 * Installs and starts packages of a list, drawn at random, in the sandbox without network, and counts what happens.
 *
 *     node scripts/try-packages.ts LIST.jsonl [COUNT] [SEED]
 *
 * A line of the list has `packageName` and `runtime` (node or python). The registries are those of npm and pip here.
 */
import { readFileSync } from 'node:fs'
import { createSemaphore } from '../src/common/semaphore.ts'
import { configuredRegistries, type Trial, tryPackage } from '../test/support/real-packages.ts'
import { openTestRunner } from '../test/support/runner.ts'

type Outcome = 'works' | 'works with a key' | 'does not start'

const start_ms = 90_000

const [list, count = '100', seed = '1'] = process.argv.slice(2)
if (list === undefined) throw new Error('Usage: node scripts/try-packages.ts LIST.jsonl [COUNT] [SEED]')
const certificates = process.env.NODE_EXTRA_CA_CERTS
await using world = await openTestRunner(
  await configuredRegistries(),
  certificates === undefined ? {} : { certificates },
)
const acquire = createSemaphore(2)
const never = new AbortController().signal

const totals = new Map<string, number>()
const reasons = new Map<string, number>()
await Promise.all(draw(readTrials(list), Number(count), Number(seed)).map(tryNext))
console.table(Object.fromEntries(totals))
console.table(Object.fromEntries([...reasons].sort(([, a], [, b]) => b - a)))

async function tryNext(trial: Trial): Promise<void> {
  using _slot = await acquire(never)
  const { outcome, reason } = await tryPackage(world.runner, trial, AbortSignal.timeout(start_ms)).then(
    ({ tools }) => ({ outcome: 'works' as Outcome, reason: tools.length === 0 ? 'no tools' : '' }),
    (thrown: Error & { code?: string }) => judge(thrown),
  )
  totals.set(outcome, (totals.get(outcome) ?? 0) + 1)
  if (reason !== '') reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  console.log([outcome, trial.type, trial.name, reason].join('\t'))
}

function judge({ code, message }: Error & { code?: string }): { outcome: Outcome; reason: string } {
  const wantsKey =
    /api[ _-]?key|token|secret|credential|password|client[ _-]?id|env(?:ironment)? var|is required|missing required|must be set|not set|required (?:arg|option|env)|usage:/i
  if (code === 'upstream_failed' && message.startsWith('It ended') && wantsKey.test(message)) {
    return { outcome: 'works with a key', reason: 'asks for a key, an address or an argument' }
  }
  return { outcome: 'does not start', reason: reasonOf(code ?? 'internal', message) }
}

function reasonOf(code: string, message: string): string {
  if (/no program|several programs/.test(message)) return 'names no program'
  if (/cannot be resolved/.test(message)) return 'its dependencies cannot be resolved'
  if (/needs (?:Node|Python)/.test(message)) return 'needs another Node or Python'
  if (/ENOTFOUND|EAI_AGAIN|ENETUNREACH|ECONNREFUSED|name resolution|network is unreachable/i.test(message))
    return 'needs the network to start'
  if (/Cannot find module|ERR_MODULE_NOT_FOUND|ModuleNotFoundError|ImportError/.test(message))
    return 'a module is missing'
  if (message.startsWith('It ended')) return 'ends at the start'
  return code
}

function readTrials(path: string): Trial[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { packageName: string; runtime: string })
    .filter(({ runtime }) => runtime === 'node' || runtime === 'python')
    .map(({ packageName, runtime }) => ({
      type: runtime === 'node' ? 'npm' : 'pypi',
      name: packageName,
      version: 'latest',
    }))
}

/** So many of the list, the same for the same seed. */
function draw<T>(list: readonly T[], count: number, seed: number): T[] {
  const left = [...list]
  let state = seed
  return Array.from({ length: Math.min(count, left.length) }, () => {
    // Numerical Recipes' generator is random enough for a sample.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return left.splice(Math.floor((state / 2 ** 32) * left.length), 1)[0] as T
  })
}
