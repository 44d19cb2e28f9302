import type { Template } from './template.ts'

export interface NamedTemplate {
  readonly name: string
  readonly value: Template
}

/** A server that answers at an address. */
export interface HttpLaunch {
  readonly kind: 'streamable-http' | 'sse'
  readonly url: Template
  readonly headers: readonly NamedTemplate[]
  /** True if hosts that let their users sign in need no header. */
  readonly signs_in?: true
  /** The process that has to run first, if hosts only connect to it. */
  readonly start?: ProcessLaunch
}

/** A server that the host starts, and talks to over standard input and output. */
export interface ProcessLaunch {
  readonly kind: 'stdio'
  readonly command: string
  readonly args: readonly Template[]
  readonly env: readonly NamedTemplate[]
}

/** A bundle (.mcpb), which a host installs from a file. */
export interface BundleInstall {
  readonly kind: 'bundle'
  readonly url: string
  readonly sha256: string
}

export type HostLaunch = HttpLaunch | ProcessLaunch | BundleInstall
