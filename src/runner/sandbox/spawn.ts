import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import type { RunLimits } from '../runner.ts'
import type { ControlGroup } from './control-groups.ts'
import type { Ending, SandboxedProcess } from './sandbox.ts'
import { diskUsage, memoryOf } from './usage.ts'

interface Spawn {
  /** Program of the host and its arguments. */
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** What the program reads from its file descriptor 3. */
  readonly input?: string
  readonly group?: Omit<ControlGroup, typeof Symbol.dispose>
  /** What polls watch: nothing that a control group or the sandbox itself limits. */
  readonly watch: {
    readonly memory_bytes?: number
    readonly folders: readonly string[]
    readonly disk_bytes: number
  }
  /** Runs when the last process has ended. Its failure leaves something behind, and is not reported. */
  readonly release: () => Promise<void>
  /** Whether the end of the program is one for want of memory; the control group says it else. */
  readonly ranOutOfMemory?: (code: number | null) => boolean
}

const poll_ms = 1000

/** Joins the control groups named before `--` and becomes the command after it. */
const joinGroups =
  'umask 022; while [ "$1" != -- ]; do echo $$ > "$1" || exit 125; shift; done; shift; exec "$@"'

/** Starts a program in its control group and process group, and watches its limits. */
export async function spawnSandboxed(options: Spawn): Promise<SandboxedProcess> {
  const child = spawn(
    '/bin/sh',
    ['-c', joinGroups, 'sh', ...(options.group?.joins ?? []), '--', ...options.command],
    {
      env: options.env,
      cwd: options.cwd,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    },
  )
  // Rejects if the system has no process left.
  await once(child, 'spawn')
  const gone = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  const pid = child.pid as number
  const input = child.stdio[3] as Writable
  for (const stream of [child.stdin, input]) stream?.on('error', () => {}) // It ended before it read.
  input.end(options.input ?? '')

  let ending: Ending | null = null
  function end(reason: Ending): void {
    ending ??= reason
    killAll(child, pid, options)
  }
  const watching = new AbortController()
  const watched = watchLimits(pid, options.watch, end, watching.signal)

  async function finish() {
    const [code, signal] = await gone
    watching.abort()
    await watched
    killAll(child, pid, options)
    const outOfMemory = code !== 0 && (options.group ?? options).ranOutOfMemory?.(code)
    if (options.group) await emptied(options.group)
    await options.release().catch(() => {})
    return { code, signal, ending: ending ?? (outOfMemory ? ('memory' as const) : null) }
  }
  const exited = finish()
  return {
    pid,
    stdin: child.stdin as Writable,
    stdout: child.stdout as Readable,
    stderr: child.stderr as Readable,
    exited,
    async [Symbol.asyncDispose]() {
      end('disposed')
      child.stdout?.resume()
      child.stderr?.resume()
      await exited
    },
  }
}

function killAll(child: ChildProcess, pid: number, { group }: Spawn): void {
  if (child.exitCode === null && child.signalCode === null) killQuietly(-pid)
  for (const id of group?.processes() ?? []) killQuietly(id)
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

/** Ends what is left in the group. */
async function emptied(group: NonNullable<Spawn['group']>): Promise<void> {
  for (let ids = group.processes(); ids.length > 0; ids = group.processes()) {
    for (const id of ids) killQuietly(id)
    await setTimeout(5)
  }
}

async function watchLimits(
  pid: number,
  { memory_bytes, folders, disk_bytes }: Spawn['watch'],
  end: (reason: Ending) => void,
  signal: AbortSignal,
): Promise<void> {
  let pause_ms = poll_ms
  while (!signal.aborted) {
    await setTimeout(pause_ms, undefined, { signal, ref: false }).catch(() => {})
    if (signal.aborted) return
    const start = performance.now()
    if (memory_bytes !== undefined && (await memoryOf(pid)) > memory_bytes) end('memory')
    for (const folder of folders) if ((await diskUsage(folder)) > disk_bytes) end('disk')
    // Large folders are looked at less often.
    pause_ms = Math.max(poll_ms, (performance.now() - start) * 10)
  }
}

/** The settings of util-linux's `prlimit`. */
export function resourceLimits({ open_files, disk_bytes, processes }: RunLimits): string[] {
  return [
    'prlimit',
    `--nofile=${open_files}:${open_files}`,
    `--fsize=${disk_bytes}:${disk_bytes}`,
    `--nproc=${processes}:${processes}`,
    '--core=0:0',
    '--',
  ]
}
