import { execFile } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { Failure } from '../../schemas/failure.ts'
import { findProgram } from './sandbox/find-program.ts'

const execute = promisify(execFile)

/** A program of the host as a sandbox sees it. */
export interface Program {
  readonly command: readonly string[]
  /** As in `SandboxCommand`. */
  readonly reads: Readonly<Record<string, string>>
}

export interface Python extends Program {
  /** Such as 3.11.7. */
  readonly version: string
}

export const nodeProgram: Program = {
  command: ['/opt/node/bin/node'],
  reads: { '/opt/node/bin/node': process.execPath },
}

/** The npm beside Node, else the first of `path`. Throws Failure `not_configured`. */
export function findNpm(path: string): Program {
  const npm = findProgram('npm', `${dirname(process.execPath)}:${path}`)
  const script = npm && realpathSync(npm)
  if (script === undefined || !existsSync(script)) {
    throw new Failure('not_configured', 'Packages of npm need npm, which was not found.', {
      hint: 'Install npm, which comes with Node.js (https://nodejs.org), on the PATH of the gateway.',
    })
  }
  const folder = dirname(dirname(script))
  if (folder.startsWith('/usr/')) return { ...nodeProgram, command: [...nodeProgram.command, script] }
  return {
    command: [...nodeProgram.command, '/opt/npm/bin/npm-cli.js'],
    reads: { ...nodeProgram.reads, '/opt/npm': folder },
  }
}

/** uv beside Node, else the first of `path`. Throws Failure `not_configured`. */
export function findUv(path: string): Program {
  const uv = findProgram('uv', `${dirname(process.execPath)}:${path}`)
  if (uv === undefined) {
    throw new Failure('not_configured', 'Packages of PyPI need uv, which was not found.', {
      hint: 'Install uv (https://docs.astral.sh/uv) on the PATH of the gateway, for example by: pip install uv',
    })
  }
  return { command: ['/opt/uv/uv'], reads: { '/opt/uv/uv': realpathSync(uv) } }
}

/** The first Python of `path`. Throws Failure `not_configured`. */
export async function findPython(path: string): Promise<Python> {
  const python = findProgram('python3', path)
  const facts =
    'import sys; print(sys.base_prefix); print(sys._base_executable); print(sys.version.split()[0])'
  const answer =
    python === undefined
      ? undefined
      : await execute(python, ['-I', '-c', facts], { timeout: 10_000 }).catch(() => undefined)
  const [prefix, executable, version] = answer?.stdout.split('\n') ?? []
  if (!prefix || !executable || !version) {
    throw new Failure('not_configured', 'Packages of PyPI need Python 3, which was not found.', {
      hint: 'Install Python 3.10 or newer on the PATH of the gateway.',
    })
  }
  const reads = prefix.startsWith('/usr') ? {} : { [realpathSync(prefix)]: realpathSync(prefix) }
  return { command: [join(realpathSync(dirname(executable)), 'python3')], reads, version }
}

/** What kinds of packages cannot be installed here, and why. */
export async function missingPrograms(path: string): Promise<string[]> {
  const finds = [() => findNpm(path), () => findUv(path), () => findPython(path)]
  const missing = await Promise.all(
    finds.map(async (find) => {
      try {
        await find()
        return []
      } catch (thrown) {
        const { message, details } = Failure.from(thrown)
        return [`${message} ${details.hint}`]
      }
    }),
  )
  return missing.flat()
}
