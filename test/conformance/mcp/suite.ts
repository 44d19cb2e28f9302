import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'

export const revisions = ['2025-11-25', '2026-07-28'] as const
type Revision = (typeof revisions)[number]

/** The program of the official conformance suite; undefined where it is not installed. */
export function findSuite(): string | undefined {
  try {
    const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')
    return join(dirname(manifest), 'dist/index.js')
  } catch {
    return undefined
  }
}

interface Run {
  readonly exit_code: number | null
  readonly output: string
  /** The scenarios that a revision requires: names, and whether all their checks passed. */
  readonly scored: readonly { readonly name: string; readonly passed: boolean }[]
}

export interface RunOptions {
  readonly url: string
  readonly revision: Revision
  /** A file of checks that are known to fail. */
  readonly baseline?: string
  /** Where the suite writes what it saw. */
  readonly folder: string
}

/** Runs what a revision requires of a server against one. */
export async function runSuite(
  program: string,
  { url, revision, baseline, folder }: RunOptions,
): Promise<Run> {
  const flags = baseline === undefined ? [] : ['--expected-failures', baseline]
  const options = ['--url', url, '--requirements', revision, '--output-dir', folder, '--timeout', '15000']
  const child = spawn(process.execPath, [program, 'server', ...options, ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [out, fault, exit_code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { exit_code, output: out + fault, scored: await scoredIn(out, program, revision) }
}

/** The summary has a line for each scenario; those that a revision requires are listed with the suite. */
async function scoredIn(output: string, program: string, revision: Revision): Promise<Run['scored']> {
  const list = join(dirname(program), `../requirements/${revision}.yaml`)
  const [, required = ''] = /^server:\n((?: {2}- .*\n)+)/m.exec(await readFile(list, 'utf8')) ?? []
  const names = new Set([...required.matchAll(/- (\S+)/g)].map((match) => match[1]))
  return [...output.matchAll(/^([✓✗]) (\S+): \d+ passed/gm)]
    .map(([, symbol, name = '']) => ({ name, passed: symbol === '✓' }))
    .filter(({ name }) => names.has(name))
}
