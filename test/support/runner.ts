import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { Failure } from '../../schemas/failure.ts'
import { createRunner, standardLimits } from '../../src/runner/create-runner.ts'
import type {
  PackageProcess,
  Registries,
  Runner,
  RunnerEvent,
  RunnerOptions,
} from '../../src/runner/runner.ts'
import { findProgram } from '../../src/runner/sandbox/find-program.ts'
import type { PackageRegistry } from './package-registry.ts'

/** The folder of uv that `.ci/run` prepares comes first. */
export const hostPath = [process.env.DRAGOMAN_TEST_UV, process.env.PATH]
  .flatMap((part) => part ?? [])
  .join(delimiter)

/** Why tests of a sandbox cannot run here, or ''. On Linux with bubblewrap, as in `.ci/run`, they never skip. */
export const lacking = findProgram('bwrap', hostPath) === undefined ? 'bubblewrap is not installed' : ''
export const lackingUv = lacking || (findProgram('uv', hostPath) === undefined ? 'uv is not installed' : '')

export interface TestRunner extends AsyncDisposable {
  readonly runner: Runner
  readonly folder: string
  readonly events: RunnerEvent[]
  /** Resolves, installs and starts a package. */
  run(
    source: { name: string; version?: string; type?: 'npm' | 'pypi' },
    request?: StartOptions,
  ): Promise<PackageProcess>
}

interface StartOptions {
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly hosts?: readonly string[]
  readonly home?: string
  readonly scripts?: boolean
}

const never = new AbortController().signal

export async function openTestRunner(
  registry: Pick<PackageRegistry, 'npm' | 'pypi'> & Partial<Registries>,
  options: Partial<RunnerOptions> = {},
): Promise<TestRunner> {
  const folder = await mkdtemp(join(tmpdir(), 'dragoman-runner-'))
  const events: RunnerEvent[] = []
  const runner = createRunner({
    folder,
    registries: { images: ['localhost'], bundles: [], ...registry },
    unsandboxed: false,
    limits: standardLimits,
    path: hostPath,
    onEvent: (event) => events.push(event),
    async download(url, max_bytes) {
      const body = new Uint8Array(await (await fetch(url)).arrayBuffer())
      if (body.length > max_bytes) throw new Failure('too_large', 'The bundle is too large.')
      return body
    },
    async dial(host, port) {
      const socket = connect({ host, port })
      await once(socket, 'connect')
      return socket
    },
    ...options,
  })
  return {
    runner,
    folder,
    events,
    async run({ name, version = 'latest', type = 'npm' }, { scripts = false, ...request } = {}) {
      const resolved = await runner.resolve({ registry_type: type, identifier: name, version }, never)
      const { lock } = await runner.install(resolved, { scripts }, never)
      return await runner.start(
        { resolved, lock, scripts, home: 'home', args: [], env: {}, hosts: [], ...request },
        never,
      )
    },
    async [Symbol.asyncDispose]() {
      await runner[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Calls a process that answers each line of JSON with a line of JSON. */
export function lineClient(process: PackageProcess) {
  const lines = createInterface({ input: process.stdout })[Symbol.asyncIterator]()
  return async (message: unknown): Promise<unknown> => {
    process.stdin.write(`${JSON.stringify(message)}\n`)
    const { value, done } = await lines.next()
    if (done) throw new Error(`It ended: ${JSON.stringify(await process.exited)} ${process.stderrTail()}`)
    return JSON.parse(value)
  }
}
