import type { Socket } from 'node:net'
import { join } from 'node:path'
import { Failure } from '../../schemas/failure.ts'
import type { Credentials } from '../auth/upstream-credentials.ts'
import type { Dial } from '../net/fetch/web-socket.ts'
import type { CapabilityReader } from '../registry/capabilities/reader.ts'
import { createPackages, type Packages } from '../registry/packages/packages.ts'
import type { Registry } from '../registry/registry.ts'
import { createRunner, standardLimits } from '../runner/create-runner.ts'
import { missingPrograms } from '../runner/programs.ts'
import type { Runner, RunnerEvent, RunnerOptions, SandboxReport } from '../runner/runner.ts'
import type { Store } from '../store/store.ts'
import { type Config, readRunnerPrograms } from './config.ts'
import type { Outbound } from './outbound.ts'
import type { OpenRemotes } from './remote.ts'
import type { Runtime } from './runtime.ts'

interface PackagePorts {
  readonly store: Store
  readonly outbound: Outbound
  readonly remotes: OpenRemotes
  readonly registry: Registry
  readonly reader: CapabilityReader
  readonly credentials: Credentials
}

const mebibyte = 1024 ** 2

/** The packages that may run here. Nothing is looked for before the first approval or call. */
export function openPackages(runtime: Runtime, ports: PackagePorts): Packages {
  const { config, options, clock, log, createId, onErrorOf } = runtime
  const { store, outbound, remotes, registry, reader, credentials } = ports
  return createPackages({
    store,
    runner: options.runner ?? openRunner(runtime, outbound),
    secrets: credentials,
    get: registry.get,
    question_wait_ms: options.question_wait_ms,
    createId,
    clock,
    noteRun: (id, statement, version) => reader.noteRun(id, statement, version),
    async readServer(url, launch, signal) {
      const agent = remotes.at({ protocol: 'mcp', url, binding: 'stdio' })
      if (!agent?.read) throw new Failure('internal', 'No adapter reads packages.')
      const limit_s = config.DRAGOMAN_CALL_FIRST
      const late = AbortSignal.timeout(limit_s * 1000)
      try {
        const limited = AbortSignal.any([signal, late])
        return await agent.read({ signal: limited, headers: {}, permit: async () => launch })
      } catch (thrown) {
        if (!late.aborted || signal.aborted) throw thrown
        throw new Failure('upstream_timeout', `It did not answer within ${limit_s} s.`, {}, thrown)
      }
    },
    endProcesses: (prefix, inUse) => remotes.processes.dropAll(prefix, inUse),
    onError: onErrorOf('packages'),
    onEnded: (agent, exit, stderr) => log.info({ agent, exit, stderr }, 'package ended'),
  })
}

/** The runner of the configuration. */
function openRunner({ stack, config, log }: Runtime, outbound: Outbound): Runner {
  const onEvent = ({ type, ...event }: RunnerEvent) => {
    if (type === 'unsandboxed') log.warn(event, 'package runs without a sandbox')
    else log.info(event, `package ${type}`)
  }
  const allowed = [config.DRAGOMAN_NPM_REGISTRY, config.DRAGOMAN_PYPI_INDEX, ...config.DRAGOMAN_ALLOW_ORIGINS]
  const dial = dialBy(outbound, allowed)
  return stack.use(createRunner({ ...runnerSettings(config), dial, download: downloadBy(outbound), onEvent }))
}

/** The sandbox in which packages would start here, and which programs of package managers it lacks. */
export async function sandboxOf(config: Config): Promise<SandboxReport & { readonly missing: string[] }> {
  const refuse = () => Promise.reject(new Failure('internal', 'Nothing is installed here.'))
  await using runner = createRunner({
    ...runnerSettings(config),
    dial: refuse,
    download: refuse,
    onEvent() {},
  })
  return { ...(await runner.sandbox()), missing: await missingPrograms(readRunnerPrograms().path) }
}

function runnerSettings(config: Config): Omit<RunnerOptions, 'dial' | 'download' | 'onEvent'> {
  const { path, certificates } = readRunnerPrograms()
  return {
    folder: join(config.data, 'packages'),
    registries: {
      npm: config.DRAGOMAN_NPM_REGISTRY,
      pypi: config.DRAGOMAN_PYPI_INDEX,
      images: config.DRAGOMAN_IMAGE_REGISTRIES,
      bundles: config.DRAGOMAN_BUNDLE_ORIGINS,
    },
    unsandboxed: config.DRAGOMAN_RUN_UNSANDBOXED === '1',
    limits: {
      ...standardLimits,
      memory_bytes: config.DRAGOMAN_RUN_MEMORY * mebibyte,
      disk_bytes: config.DRAGOMAN_RUN_DISK * mebibyte,
    },
    path,
    ...(certificates !== undefined && { certificates }),
  }
}

const download_ms = 10 * 60_000

/** Downloads under the address rule, which counts for each redirect. */
function downloadBy(outbound: Outbound): RunnerOptions['download'] {
  return async (url, max_bytes, signal) => {
    const { status, body } = await outbound.public.fetch({ url, max_bytes, signal, timeout_ms: download_ms })
    if (status === 200) return body
    const { host } = new URL(url)
    if (status === 404 || status === 410)
      throw new Failure('not_found', `${host} has no bundle at this address.`)
    throw new Failure('upstream_failed', `${host} answered ${status} for the bundle.`)
  }
}

/** Plain connections under the address rule, at any port of a host that was granted. */
function dialBy(outbound: Outbound, allowed: readonly string[]) {
  // The connection is plain, whatever runs over it.
  const allow_origins = allowed.map((url) => plainOrigin(new URL(url)))
  const dials = new Map<number, Dial>()
  return (host: string, port: number, signal: AbortSignal): Promise<Socket> => {
    const dial = dials.get(port) ?? outbound.reach({ ports: [port], allow_origins }).dial
    dials.set(port, dial)
    const name = host.includes(':') ? `[${host}]` : host
    return new Promise((resolve, reject) => {
      dial(`ws://${name}:${port}`)({}, (error, stream) => {
        if (error) return reject(error)
        const socket = stream as Socket
        if (signal.aborted) socket.destroy()
        resolve(socket)
      })
    })
  }
}

function plainOrigin({ hostname, port, protocol }: URL): string {
  return new URL(`http://${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`).origin
}
