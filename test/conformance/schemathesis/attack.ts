import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type Home, openHome } from './home.ts'
import { writeSettings } from './settings.ts'

export interface Attack {
  readonly name: string
  readonly as: 'anybody' | 'owners'
  /** Plants a fault between the gateway and its transports. */
  readonly compose?: Parameters<typeof openHome>[0]
  /** Phases of schemathesis, separated by commas. */
  readonly phases?: string
  /** The paths that are tried, as a regular expression; all when absent. */
  readonly paths?: string
  readonly seed?: number
}

export interface Outcome {
  readonly exit_code: number | null
  /** What schemathesis wrote, without colours. */
  readonly output: string
  /** Operations and phases, as JUnit counts them. */
  readonly cases: number
}

const allPhases = 'examples,coverage,fuzzing,stateful'

/** Runs schemathesis with every check against a gateway of its own; what it writes goes to `folder`. */
export async function runAttack(program: string, folder: string, attack: Attack): Promise<Outcome> {
  const { as, compose, phases = allPhases, paths = '.', seed = 1 } = attack
  await using home = await openHome(compose)
  const settings = await writeSettings(folder, home, as)
  const junit = join(folder, 'junit.xml')
  const options = [
    ...['--config-file', settings, 'run', `${home.url}/openapi.json`],
    ...['--checks', 'all', '--phases', phases, '--continue-on-failure', '--include-path-regex', paths],
    ...['--seed', String(seed), '--generation-database', 'none', '--no-color'],
    ...['--report', 'junit', '--report-junit-path', junit],
  ]
  const { exit_code, output } = await run(program, options, folder, home)
  return { exit_code, output, cases: casesIn(await readFile(junit, 'utf8').catch(() => '')) }
}

async function run(program: string, options: readonly string[], folder: string, home: Home) {
  const hooks = join(import.meta.dirname, 'hooks.py')
  const started = spawn(program, options, {
    cwd: folder,
    env: { ...process.env, SCHEMATHESIS_HOOKS: hooks, CONFORMANCE_PAGE: home.page },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<number | null>((resolve, reject) => {
    started.on('error', reject)
    started.on('close', resolve)
  })
  const [output, exit_code] = await Promise.all([text(started.stdout), ended])
  return { exit_code, output }
}

function casesIn(junit: string): number {
  return junit.match(/<testcase\b/g)?.length ?? 0
}
