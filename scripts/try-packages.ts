/**
 * Installs and starts packages of a list, drawn at random, in the sandbox without network, and counts what happens.
 * Names that the registries do not have are counted apart: others are drawn in their place.
 *
 *     node scripts/try-packages.ts LIST.jsonl [COUNT] [SEED]
 *
 * A line of the list has `packageName` and `runtime` (node or python), or is a server document of the MCP registry, whose
 * fixed arguments it gets. The registries are those of npm and pip here.
 */
import { readFileSync } from 'node:fs'
import { configuredRegistries, type Trial, tryPackage } from '../test/support/real-packages.ts'
import { openTestRunner } from '../test/support/runner.ts'

type Outcome = 'works' | 'works with a key' | 'does not start' | 'is not in the registry'

const start_ms = 240_000

const [list, count = '100', seed = '1'] = process.argv.slice(2)
if (list === undefined) throw new Error('Usage: node scripts/try-packages.ts LIST.jsonl [COUNT] [SEED]')
const certificates = process.env.NODE_EXTRA_CA_CERTS
await using world = await openTestRunner(
  await configuredRegistries(),
  certificates === undefined ? {} : { certificates },
)

const totals = new Map<string, number>()
const reasons = new Map<string, number>()
const waiting = shuffled(readTrials(list), Number(seed))
let found = 0
await Promise.all(
  Array.from({ length: 2 }, async () => {
    for (let trial = waiting.pop(); trial && found < Number(count); trial = waiting.pop())
      await tryNext(trial)
  }),
)
console.table(Object.fromEntries(totals))
console.table(Object.fromEntries([...reasons].sort(([, a], [, b]) => b - a)))

async function tryNext(trial: Trial): Promise<void> {
  let detail = ''
  const { outcome, reason } = await tryPackage(world.runner, trial, AbortSignal.timeout(start_ms)).then(
    ({ tools }) => ({ outcome: 'works' as Outcome, reason: tools.length === 0 ? 'no tools' : '' }),
    (thrown: Error & { code?: string }) => {
      detail = thrown.message.trim().split('\n').at(-1)?.slice(0, 200) ?? ''
      return judge(thrown)
    },
  )
  if (outcome !== 'is not in the registry') found++
  totals.set(outcome, (totals.get(outcome) ?? 0) + 1)
  if (reason !== '') reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  console.log([outcome, trial.type, trial.name, reason, detail].join('\t'))
}

function judge({ code, message }: Error & { code?: string }): { outcome: Outcome; reason: string } {
  const wantsKey =
    /api[ _-]?key|token|secret|credential|password|client[ _-]?id|env(?:ironment)? var|is required|missing required|must be set|not set|required (?:arg|option|env)|usage:/i
  if (code === 'upstream_failed' && message.startsWith('It ended') && wantsKey.test(message)) {
    return { outcome: 'works with a key', reason: 'asks for a key, an address or an argument' }
  }
  if (code === 'not_found' && message.startsWith('The registry has no package'))
    return { outcome: 'is not in the registry', reason: '' }
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

interface Line {
  readonly packageName?: string
  readonly runtime?: string
  readonly server?: { readonly packages?: readonly StatedPackage[] }
}

interface StatedPackage {
  readonly registryType: string
  readonly identifier: string
  readonly version?: string
  readonly transport?: { readonly type: string }
  readonly packageArguments?: readonly {
    readonly name?: string
    readonly value?: string
    readonly default?: string
  }[]
}

function readTrials(path: string): Trial[] {
  const lines = readFileSync(path, 'utf8').split('\n')
  const trials = lines
    .filter((line) => line !== '')
    .flatMap((line) => trialOf(JSON.parse(line) as Line) ?? [])
  return [...new Map(trials.map((trial) => [`${trial.type} ${trial.name}`, trial])).values()]
}

function trialOf({ packageName, runtime, server }: Line): Trial | undefined {
  if (packageName !== undefined) {
    if (runtime !== 'node' && runtime !== 'python') return undefined
    return { type: runtime === 'node' ? 'npm' : 'pypi', name: packageName, version: 'latest' }
  }
  const stated = server?.packages?.find(
    ({ registryType, transport }) =>
      (registryType === 'npm' || registryType === 'pypi') && (transport?.type ?? 'stdio') === 'stdio',
  )
  if (!stated) return undefined
  const args = (stated.packageArguments ?? []).flatMap(({ name, value, default: usual }) => {
    const text = value ?? usual
    return text === undefined ? [] : [...(name === undefined ? [] : [name]), text]
  })
  const { registryType: type, identifier: name, version = 'latest' } = stated
  return { type: type as Trial['type'], name, version, args }
}

/** The list in an order that is the same for the same seed. */
function shuffled<T>(list: readonly T[], seed: number): T[] {
  const left = [...list]
  let state = seed
  return Array.from({ length: left.length }, () => {
    // Numerical Recipes' generator is random enough for a sample.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return left.splice(Math.floor((state / 2 ** 32) * left.length), 1)[0] as T
  }).reverse()
}
