import { Failure } from '../../../schemas/failure.ts'
import { lookUp } from '../inside-scripts.ts'
import { nodeProgram, type Program } from '../programs.ts'
import type { PackageSource, ResolvedPackage } from '../runner.ts'
import type { BundleLaunch } from './bundle-launch.ts'
import type { JobResult, Workspace } from './jobs.ts'

/**
 * Connections of one installation to its registry at the same time. Behind some mirrors and firewalls, a burst of
 * connections waits for seconds: with the 50 of uv, an installation of 40 packages took 9 s, with these 3 s.
 */
export const maxConnections = 8

/** A registry, as seen from a workspace. */
export interface RegistryAccess {
  readonly base: string
  /** `PATH` of the host. */
  readonly path: string
  readonly signal: AbortSignal
  /** Runs a tool in a sandbox that reaches the registry alone. */
  run(program: Program, args: readonly string[], env?: Readonly<Record<string, string>>): Promise<JobResult>
}

export interface Installation {
  readonly registry: RegistryAccess
  readonly work: Workspace
  readonly scripts: boolean
}

/** How an installation starts. */
export interface InstalledProgram extends Program {
  /** Id of the image whose files it sees instead of those of the host; the command is its own. */
  readonly image?: string
  readonly bundle?: BundleLaunch
}

/** How packages of a kind are found, locked, installed and started. */
export interface Ecosystem {
  /** Name of the lock file in the workspace. */
  readonly lockFile: string
  resolve(source: PackageSource, registry: RegistryAccess, work: Workspace): Promise<ResolvedPackage>
  /** Writes the lock file with the dependencies as of `before` (RFC 3339), or says what is in the way. */
  lock(
    resolved: ResolvedPackage,
    before: string | null,
    installation: Installation,
  ): Promise<{ readonly dependencies: number } | { readonly problem: string }>
  /** Installs what the lock file in the workspace states. */
  install(resolved: ResolvedPackage, installation: Installation): Promise<void>
  /** The program of the package that is installed in `folder`. `path` is the `PATH` of the host. */
  program(resolved: ResolvedPackage, folder: string, path: string): Promise<InstalledProgram>
  /** False if something outside of the installation is gone. */
  isPresent?(program: InstalledProgram): Promise<boolean>
}

/** What the script `look-up` prints, which asks the registry in a sandbox. Throws Failure `upstream_failed` if it prints nothing. */
export async function ask(
  registry: RegistryAccess,
  kind: 'npm' | 'pypi',
  name: string,
  version: string,
): Promise<unknown> {
  const program = { command: nodeProgram.command, reads: { ...nodeProgram.reads, ...lookUp.reads } }
  const { stdout, stderr } = await registry.run(program, [lookUp.path, kind, registry.base, name, version])
  if (stdout === '') throw registryFailure(registry, lastLines(stderr))
  return JSON.parse(stdout)
}

export function registryFailure({ base }: RegistryAccess, reason: string): Failure {
  return new Failure('upstream_failed', `The registry ${new URL(base).host} gave no usable answer: ${reason}`)
}

/** The end of what a tool wrote, for its reader. */
export function lastLines(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return lines.slice(-12).join('\n').slice(-2000)
}
