import { type ChildProcess, spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { Failure } from '../../schemas/failure.ts'
import type { Exit, PackageProcess, Runner, RunRequest } from '../../src/runner/runner.ts'

const server = join(import.meta.dirname, 'package-server.ts')

interface TestRunner extends Runner {
  /** Every start, in order. */
  readonly starts: RunRequest[]
  /** Every installation. */
  readonly installs: string[]
  /** The HOMEs that were forgotten, in order. */
  readonly forgotten: string[]
  /** Processes that run now. */
  readonly running: () => number
  /** The versions of packages by identifier, newest last; others do not exist. */
  readonly versions: Map<string, string[]>
  /** Replaces the digests of a package. */
  readonly digests: Map<string, string>
  /** Called before each start. */
  beforeStart: () => Promise<void>
  /** Called in each installation. */
  beforeInstall: () => Promise<void>
}

/** A runner without a sandbox, whose packages all are the server of tests. The registry of packages is the table. */
export function createTestRunner(versions: Readonly<Record<string, string[]>>): TestRunner {
  const starts: RunRequest[] = []
  const installs: string[] = []
  const forgotten: string[] = []
  const digests = new Map<string, string>()
  const children = new Set<ChildProcess>()
  const table = new Map(Object.entries(versions))
  const runner: TestRunner = {
    beforeStart: async () => {},
    beforeInstall: async () => {},
    starts,
    installs,
    forgotten,
    digests,
    versions: table,
    running: () => children.size,
    sandbox: async () => ({
      kind: 'bubblewrap',
      version: '1',
      problem: null,
      limited: ['Everything.'],
      not_limited: ['Nothing.'],
    }),
    async resolve(source) {
      const all = table.get(source.identifier)
      const version = source.version === 'latest' ? all?.at(-1) : source.version
      if (version === undefined || !all?.includes(version)) {
        throw new Failure('not_found', `There is no ${source.identifier} ${source.version}.`)
      }
      const name = `${source.identifier} ${version}`
      const integrity = digests.get(source.identifier) ?? `sha512-${hash('sha512', name, 'base64')}`
      return {
        source: { ...source, version },
        integrity,
        published_at: '2026-01-01T00:00:00.000Z',
        warning: null,
      }
    },
    async install(resolved, _options, _signal, progress) {
      progress?.('installing')
      await runner.beforeInstall()
      const { identifier, version } = resolved.source
      installs.push(`${identifier} ${version}`)
      return {
        resolved,
        lock: hash('sha256', resolved.integrity, 'hex'),
        dependencies: 0,
        bytes: 0,
        as_of: null,
      }
    },
    async start(request) {
      starts.push(request)
      await runner.beforeStart()
      const child = spawn(process.execPath, [server, ...request.args], {
        env: { ...request.env },
        stdio: ['pipe', 'pipe', 'pipe'],
      })
      children.add(child)
      child.once('close', () => children.delete(child))
      return processOf(child)
    },
    async forgetHome(home) {
      forgotten.push(home)
    },
    async [Symbol.asyncDispose]() {
      for (const child of children) child.kill('SIGKILL')
    },
  }
  return runner
}

function processOf(child: ChildProcess): PackageProcess {
  let stderr = ''
  let isDisposed = false
  child.stderr?.on('data', (chunk) => {
    stderr = `${stderr}${chunk}`.slice(-8192)
  })
  const exited = once(child, 'exit').then(
    ([code, signal]): Exit => ({ code, signal, reason: isDisposed ? 'disposed' : 'exited' }),
  )
  if (!child.stdin || !child.stdout) throw new Error('It has no streams.')
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    exited,
    stderrTail: () => stderr,
    async [Symbol.asyncDispose]() {
      isDisposed = true
      child.kill('SIGKILL')
      await exited
    },
  }
}
