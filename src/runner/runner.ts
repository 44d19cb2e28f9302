import type { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import type { NamedInput } from '../../schemas/package.ts'

/** Where a package comes from. `identifier` and `version` are those of an entry's `packages[]`. */
export interface PackageSource {
  readonly registry_type: 'npm' | 'pypi' | 'oci' | 'mcpb'
  readonly identifier: string
  /** An exact version, or `latest`. */
  readonly version: string
  /** Lower-case hex; compared where the entry states it. */
  readonly file_sha256?: string
}

/** What an approval pins. */
export interface ResolvedPackage {
  /** With an exact version. */
  readonly source: PackageSource
  /** Digest of the package itself (W3C Subresource Integrity): `sha512-…` of npm, `sha256-…` of the others. */
  readonly integrity: string
  /** RFC 3339; null where the registry does not state it. */
  readonly published_at: string | null
  /** What the registry says against its use, such as a deprecation. */
  readonly warning: string | null
  /** Values that the package itself asks for, by the names of variables; `start` takes them in `env`. */
  readonly inputs?: readonly NamedInput[]
}

export interface InstalledPackage {
  readonly resolved: ResolvedPackage
  /** SHA-256 of the lock file in lower-case hex. */
  readonly lock: string
  /** Packages in the lock file, besides the package itself. */
  readonly dependencies: number
  /** Size of the installation. */
  readonly bytes: number
  /** Dependencies are the newest of this time (RFC 3339); null: of the time of the installation. */
  readonly as_of: string | null
}

export interface InstallOptions {
  /** True only where install scripts and builds from source are approved. */
  readonly scripts: boolean
  /** The approved lock. An installation that would differ from it is Failure `precondition_failed`. */
  readonly lock?: string
}

export interface RunRequest {
  readonly resolved: ResolvedPackage
  /** `lock` and `scripts` of the installation. */
  readonly lock: string
  readonly scripts: boolean
  /** Id of the approval, [a-z0-9-]{1,64}: processes with one id share HOME and caches. */
  readonly home: string
  readonly args: readonly string[]
  /** Values of six characters or more do not appear in `stderrTail`. */
  readonly env: Readonly<Record<string, string>>
  /** Hosts that it may reach, such as `example.com` (port 443 or 80) or `example.com:8443`. Empty: no network. */
  readonly hosts: readonly string[]
}

export interface Exit {
  readonly code: number | null
  readonly signal: string | null
  /** `memory` and `disk`: the runner ended it at that limit. */
  readonly reason: 'exited' | 'disposed' | 'memory' | 'disk'
}

/** A running package. Disposing it ends all of its processes. */
export interface PackageProcess extends AsyncDisposable {
  readonly stdin: Writable
  /** Paced to the limit of output; a reader that does not read stops the package. */
  readonly stdout: Readable
  /** Never rejects. */
  readonly exited: Promise<Exit>
  /** The last lines of standard error, at most 8 KiB, without the values of the environment. */
  stderrTail(): string
}

/** The sandbox that starts use, in sentences for an operator. */
export interface SandboxReport {
  /** null: no package can be run here; `problem` says what to install. */
  readonly kind: 'bubblewrap' | 'podman' | 'docker' | 'none' | null
  readonly version: string | null
  readonly problem: string | null
  readonly limited: readonly string[]
  readonly not_limited: readonly string[]
}

export interface RunLimits {
  /** Of all processes of a package together. */
  readonly memory_bytes: number
  /** Of HOME, and of the temporary folder. */
  readonly disk_bytes: number
  readonly processes: number
  /** Share of one processor: 1 is one processor. */
  readonly processors: number
  readonly open_files: number
  readonly output_bytes_per_s: number
}

export type RunnerEvent =
  /** Each start without a sandbox. */
  | { readonly type: 'unsandboxed'; readonly package: string; readonly detail: string }
  | { readonly type: 'started'; readonly package: string; readonly pid: number }
  | { readonly type: 'ended'; readonly package: string; readonly pid: number; readonly exit: Exit }
  /** A connection that the egress proxy refused. */
  | { readonly type: 'refused_host'; readonly package: string; readonly host: string }

/** Where packages may come from. */
export interface Registries {
  /** Base address, such as https://registry.npmjs.org. */
  readonly npm: string
  /** Base address, such as https://pypi.org/simple. */
  readonly pypi: string
  /** Hosts of image registries, such as docker.io. */
  readonly images: readonly string[]
  /** Origins of bundles, such as https://github.com. */
  readonly bundles: readonly string[]
}

export interface RunnerOptions {
  /** Installations, locks and homes. Only the runner writes here. */
  readonly folder: string
  readonly registries: Registries
  /** Where no sandbox is found, packages start without it. */
  readonly unsandboxed: boolean
  readonly limits: RunLimits
  /** Connects to a host that was granted; refuses addresses that are not public. */
  readonly dial: (host: string, port: number, signal: AbortSignal) => Promise<Socket>
  /** Downloads a bundle of at most so many bytes; refuses addresses that are not public. Throws Failure. */
  readonly download: (url: string, max_bytes: number, signal: AbortSignal) => Promise<Uint8Array>
  readonly onEvent: (event: RunnerEvent) => void
  /** `PATH` of the host, where npm, uv, bubblewrap, podman and docker are looked for. */
  readonly path: string
  /** Certificates that installations trust besides the system's, such as NODE_EXTRA_CA_CERTS. */
  readonly certificates?: string
  /** Sandboxes in order of preference; the first that works is used. */
  readonly sandboxes?: readonly ('bubblewrap' | 'podman' | 'docker')[]
}

/** Installs packages of registries and runs them in a sandbox. Every method throws Failure only. */
export interface Runner extends AsyncDisposable {
  /** The sandbox that starts of a kind of package use here, found once; images need podman or docker. */
  sandbox(type?: PackageSource['registry_type']): Promise<SandboxReport>
  /** Failures: `not_found`, `not_installable` (yanked, or for another Node or Python), `upstream_failed`, `not_configured`. */
  resolve(source: PackageSource, signal: AbortSignal): Promise<ResolvedPackage>
  /** Downloads, locks and installs in a sandbox that reaches the registry alone. An installation that exists is used. */
  install(
    resolved: ResolvedPackage,
    options: InstallOptions,
    signal: AbortSignal,
    progress?: (text: string) => void,
  ): Promise<InstalledPackage>
  /** Starts the locked installation, or throws `wrong_state` if it is not installed. */
  start(request: RunRequest, signal: AbortSignal): Promise<PackageProcess>
  /** Ends what runs with a HOME, and with those whose names begin with it and a dash, and removes them. */
  forgetHome(home: string): Promise<void>
}
