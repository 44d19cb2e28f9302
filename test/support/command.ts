import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

export const command = resolve(import.meta.dirname, '../../bin/dragoman.js')

export interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command line to its end, in an environment of its own. */
export function run(args: readonly string[], environment: Record<string, string>): Promise<Ended> {
  const env = { PATH: process.env.PATH ?? '', NO_COLOR: '1', ...environment }
  return new Promise((done) => {
    execFile(
      process.execPath,
      [command, ...args],
      { env, maxBuffer: 20_000_000 },
      (fault, stdout, stderr) => {
        done({ code: typeof fault?.code === 'number' ? fault.code : fault ? 1 : 0, stdout, stderr })
      },
    )
  })
}

/** An empty folder that goes when it is disposed of. */
export async function temporaryFolder(): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'dragoman-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}
