import type { Readable, Writable } from 'node:stream'
import type { RunLimits, SandboxReport } from '../runner.ts'

/** Paths in every sandbox. */
export const inside = {
  package: '/package',
  home: '/home/package',
  egress: '/run/egress.sock',
  scripts: '/opt/runner',
  path: '/opt/node/bin:/usr/local/bin:/usr/bin:/bin',
} as const

/** A command to run in a sandbox, and all that it sees. */
export interface SandboxCommand {
  /** Program and arguments, by paths in the sandbox. */
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Folder of the host at `/package`. */
  readonly package: { readonly folder: string; readonly writable: boolean }
  /** Folder of the host that is HOME. */
  readonly home: string
  /** Processes with one identity have one user id, where the sandbox has user ids of its own. */
  readonly identity: string
  /** Further files and folders of the host by their paths in the sandbox, read-only. */
  readonly reads: Readonly<Record<string, string>>
  /** Socket of the egress proxy on the host. Absent: no network at all. */
  readonly egress?: string
  readonly limits: RunLimits
}

/** Why a process ended, beside its own exit. */
export type Ending = 'disposed' | 'memory' | 'disk'

interface ProcessExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly ending: Ending | null
}

/** Disposing it ends every process that the command started. */
export interface SandboxedProcess extends AsyncDisposable {
  readonly pid: number
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** Resolves when no process of the command is left. */
  readonly exited: Promise<ProcessExit>
}

/** Where a command starts: an installation in its package, everything else in HOME. */
export function startFolder(command: SandboxCommand): string {
  return command.package.writable ? inside.package : inside.home
}

export interface Sandbox {
  readonly report: SandboxReport
  start(command: SandboxCommand): Promise<SandboxedProcess>
}
