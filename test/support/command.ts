import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** The command as people start it. */
export const command = resolve(import.meta.dirname, '../../bin/dragoman.js')

export interface CommandResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Only one run at a time may use the environment and the streams of this process. */
let last: Promise<unknown> = Promise.resolve()

/**
 * Runs the command line to its end within this process, in a separate environment: a separate process would spend
 * a second loading modules. `run` of processes.ts starts one, for tests that need a process.
 */
export function run(args: readonly string[], environment: Record<string, string>): Promise<CommandResult> {
  const result = last.then(() => runAlone(args, environment))
  last = result.catch(() => {})
  return result
}

async function runAlone(
  args: readonly string[],
  environment: Record<string, string>,
): Promise<CommandResult> {
  const { env, stdout, stderr } = process
  const output = { stdout: '', stderr: '' }
  const writes = { stdout: stdout.write, stderr: stderr.write }
  for (const name of ['stdout', 'stderr'] as const) {
    process[name].write = (chunk: string | Uint8Array) => {
      output[name] += chunk.toString()
      return true
    }
  }
  process.env = { PATH: env.PATH ?? '', NO_COLOR: '1', ...environment }
  process.exitCode = undefined
  try {
    const { main } = await import('../../src/cli/main.ts')
    await main(args)
    return { code: Number(process.exitCode ?? 0), ...output }
  } finally {
    process.env = env
    process.exitCode = undefined
    stdout.write = writes.stdout
    stderr.write = writes.stderr
  }
}

/** An empty folder, removed when it is disposed. */
export async function temporaryFolder(): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'dragoman-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}
