import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running extends AsyncDisposable {
  readonly process: ChildProcess
  readonly pid: number
  /** Resolves with the first match in the output of the process, standard output and error alike. */
  printed(pattern: RegExp): Promise<RegExpExecArray>
  /** Closes the input of the process, and waits for its end. */
  readonly ended: Promise<Ended>
}

/**
 * Starts a process, which is killed at the end of the test if it still runs. `environment` is its whole environment,
 * except for PATH and the cache of compiled modules.
 */
export function run(
  command: string,
  args: readonly string[],
  environment: Record<string, string> = {},
  options: { cwd?: string; input?: string } = {},
): Running {
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env
  const child = spawn(command, args, {
    env: { PATH, NODE_COMPILE_CACHE, ...environment },
    ...(options.cwd !== undefined && { cwd: options.cwd }),
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stdin.on('error', () => {})
  if (options.input !== undefined) child.stdin.end(options.input)
  let output = ''
  const listeners = new Set<() => void>()
  const receive = (chunk: Buffer): void => {
    output += chunk.toString()
    for (const listener of listeners) listener()
  }
  child.stdout.on('data', receive)
  child.stderr.on('data', receive)
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]).then(
    ([stdout, stderr]) => ({ code: child.exitCode, signal: child.signalCode, stdout, stderr }),
  )

  return {
    process: child,
    pid: child.pid ?? 0,
    ended,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          const found = pattern.exec(output)
          if (!found) return
          listeners.delete(check)
          resolve(found)
        }
        listeners.add(check)
        void ended.then(() => reject(new Error(`It ended and never printed ${pattern}:\n${output}`)))
        check()
      }),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
