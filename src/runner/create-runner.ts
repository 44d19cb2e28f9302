import { chmod, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Failure } from '../../schemas/failure.ts'
import { controlsProcess, isVariableName } from '../common/variable-names.ts'
import { relay } from './inside-scripts.ts'
import { startEgressProxy } from './network/egress-proxy.ts'
import { createTail, pace } from './output.ts'
import { fillBundle } from './packages/bundle-launch.ts'
import type { Ecosystem, InstalledProgram, Registry } from './packages/ecosystem.ts'
import { openWorkspace, runJob, type Workspace } from './packages/jobs.ts'
import { createMcpb } from './packages/mcpb.ts'
import { npm } from './packages/npm.ts'
import { createOci } from './packages/oci.ts'
import { pypi } from './packages/pypi.ts'
import { openPackageStore } from './packages/store.ts'
import { nodeProgram } from './programs.ts'
import type {
  PackageProcess,
  PackageSource,
  RunLimits,
  Runner,
  RunnerEvent,
  RunnerOptions,
  RunRequest,
} from './runner.ts'
import { findImages, findSandbox } from './sandbox/find-sandbox.ts'
import { type Images, proxyVariables } from './sandbox/images.ts'
import { inside, type Sandbox, type SandboxedProcess } from './sandbox/sandbox.ts'
import { diskUsage } from './sandbox/usage.ts'

export const standardLimits: RunLimits = {
  memory_bytes: 1024 ** 3,
  disk_bytes: 512 * 1024 ** 2,
  processes: 256,
  processors: 1,
  open_files: 1024,
  output_bytes_per_s: 16 * 1024 ** 2,
}

/** A larger cache of the tools is removed at the first use. */
const maxCache = 1024 ** 3
const maxArguments = 64 * 1024

/** Opens a runner; it looks for a sandbox at the first use. */
export function createRunner(options: RunnerOptions): Runner {
  const store = openPackageStore(options.folder)
  /** With the names of their HOMEs. */
  const running = new Map<AsyncDisposable, string>()
  const cache = join(options.folder, 'cache')
  let found: Promise<Sandbox> | undefined
  let foundImages: Promise<Images> | undefined
  let cleaned: Promise<void> | undefined

  function anySandbox(): Promise<Sandbox> {
    found ??= findSandbox(options)
    return found
  }

  function images(): Promise<Images> {
    foundImages ??= findImages(options)
    return foundImages
  }

  const ecosystems: Readonly<Record<PackageSource['registry_type'], Ecosystem>> = {
    npm,
    pypi,
    oci: createOci({ hosts: options.registries.images, images }),
    mcpb: createMcpb({ origins: options.registries.bundles, download: options.download }),
  }
  const ecosystemOf = ({ registry_type }: PackageSource) => ecosystems[registry_type]

  async function usableSandbox(): Promise<Sandbox> {
    const sandbox = await anySandbox()
    if (sandbox.report.problem !== null) throw new Failure('not_configured', sandbox.report.problem)
    return sandbox
  }

  async function registryOf(source: PackageSource, work: Workspace, signal: AbortSignal): Promise<Registry> {
    const sandbox = await usableSandbox()
    const type = source.registry_type
    const base = type === 'npm' || type === 'pypi' ? options.registries[type].replace(/\/+$/, '') : undefined
    const hosts = base === undefined ? [] : hostsOf(base)
    return {
      base: base ?? '',
      path: options.path,
      signal,
      run: (program, args, env = {}) =>
        runJob(sandbox, { program, args, env, work, hosts, certificates: options.certificates }, signal),
    }
  }

  async function inWorkspace<T>(scripts: boolean, run: (work: Workspace) => Promise<T>): Promise<T> {
    cleaned ??= removeLarge(cache).catch((fault) => {
      // The next installation tries again.
      cleaned = undefined
      throw fault
    })
    await cleaned
    await using work = await openWorkspace(options.folder, scripts ? undefined : cache)
    return await run(work)
  }

  return {
    sandbox: async (type) => (await (type === 'oci' ? images() : anySandbox())).report,
    resolve: (source, signal) =>
      asFailure(() =>
        inWorkspace(false, async (work) =>
          ecosystemOf(source).resolve(source, await registryOf(source, work, signal), work),
        ),
      ),
    install: (resolved, { scripts, lock }, signal, progress = () => {}) =>
      asFailure(() =>
        inWorkspace(scripts, async (work) => {
          const registry = await registryOf(resolved.source, work, signal)
          const installation = { registry, work, scripts }
          const ecosystem = ecosystemOf(resolved.source)
          const { program: _, ...installed } = await store.install(
            ecosystem,
            resolved,
            { scripts, ...(lock !== undefined && { lock }) },
            installation,
            progress,
          )
          return installed
        }),
      ),
    start: (request, signal) =>
      asFailure(async () => {
        signal.throwIfAborted()
        checkRequest(request)
        const name = nameOf(request.resolved.source)
        const installed = await store.find(request.lock, request.scripts)
        if (!installed) {
          throw new Failure('wrong_state', `${name} is not installed.`, {
            hint: 'Install it, then start it.',
          })
        }
        if (installed.resolved.integrity !== request.resolved.integrity) {
          throw new Failure(
            'precondition_failed',
            `${name} is installed with another integrity than the approved one.`,
          )
        }
        const sandbox = await usableSandbox()
        if (sandbox.report.kind === 'none' && installed.program.image === undefined) {
          const detail = `${name} starts without a sandbox. ${sandbox.report.not_limited.join(' ')}`
          options.onEvent({ type: 'unsandboxed', package: name, detail })
        }
        const started = await startPackage({ sandbox, images }, options, request, {
          name,
          folder: store.folderOf(request.lock, request.scripts),
          program: installed.program,
        })
        running.set(started, request.home)
        void started.exited.then(() => running.delete(started))
        return started
      }),
    forgetHome: (home) =>
      asFailure(async () => {
        // The volumes of an image are beside its HOME.
        const isOf = (name: string) => name.startsWith(home) && /^(?:$|[-.])/.test(name.slice(home.length))
        const ending = [...running].filter(([, name]) => isOf(name))
        await Promise.all(ending.map(([started]) => started[Symbol.asyncDispose]()))
        const folder = homesIn(options.folder)
        const names = await readdir(folder).catch(() => [])
        await Promise.all(
          names.filter(isOf).map((name) => rm(join(folder, name), { recursive: true, force: true })),
        )
      }),
    async [Symbol.asyncDispose]() {
      await Promise.all([...running.keys()].map((started) => started[Symbol.asyncDispose]()))
    },
  }
}

interface Installed {
  readonly name: string
  readonly folder: string
  readonly program: InstalledProgram
}

interface Sandboxes {
  readonly sandbox: Sandbox
  readonly images: () => Promise<Images>
}

function homesIn(folder: string): string {
  return join(folder, 'homes')
}

async function startPackage(
  sandboxes: Sandboxes,
  { folder, limits, dial, onEvent }: RunnerOptions,
  request: RunRequest,
  installed: Installed,
): Promise<PackageProcess> {
  const home = join(homesIn(folder), request.home)
  // bubblewrap enters it without the rights of root; the folder above it is private.
  await mkdir(home, { recursive: true })
  await chmod(home, 0o755)
  const { name } = installed
  await using resources = new AsyncDisposableStack()
  let egress: string | undefined
  if (request.hosts.length > 0) {
    const own = await mkdtemp(join(tmpdir(), 'dragoman-egress-'))
    resources.defer(() => rm(own, { recursive: true, force: true }))
    const onRefused = (host: string) => onEvent({ type: 'refused_host', package: name, host })
    egress = resources.use(
      await startEgressProxy({ socket: join(own, 'socket'), hosts: request.hosts, dial, onRefused }),
    ).socket
  }
  const child = await startIn(sandboxes, request, installed, { home, limits, egress })
  onEvent({ type: 'started', package: name, pid: child.pid })
  const held = resources.move()
  return packageProcess(child, request, limits, async (exit) => {
    await held[Symbol.asyncDispose]().catch(() => {})
    onEvent({ type: 'ended', package: name, pid: child.pid, exit })
  })
}

/** Starts the program of an image, or of an installation in the sandbox of packages. */
async function startIn(
  { sandbox, images }: Sandboxes,
  request: RunRequest,
  { program, folder }: Installed,
  place: { readonly home: string; readonly limits: RunLimits; readonly egress: string | undefined },
): Promise<SandboxedProcess> {
  const { home, limits, egress } = place
  const common = { home, limits, identity: request.home, ...(egress !== undefined && { egress }) }
  if (program.image !== undefined) {
    const proxies = egress === undefined ? {} : proxyVariables()
    const env = { ...request.env, ...proxies, HOME: inside.home, TMPDIR: '/tmp' }
    return await (await images()).start({ ...common, image: program.image, args: request.args, env })
  }
  const { args, env } = program.bundle === undefined ? request : fillBundle(program.bundle, request)
  return await sandbox.start({
    ...common,
    command: [
      ...(egress === undefined ? [] : [...nodeProgram.command, relay.path, inside.egress]),
      ...program.command,
      ...args,
    ],
    env: { ...env, ...environment },
    package: { folder, writable: false },
    reads: { ...nodeProgram.reads, ...program.reads, ...(egress !== undefined && relay.reads) },
  })
}

function packageProcess(
  child: SandboxedProcess,
  { env }: RunRequest,
  limits: RunLimits,
  onEnd: (exit: Extract<RunnerEvent, { type: 'ended' }>['exit']) => Promise<void>,
): PackageProcess {
  const tail = createTail(env)
  child.stderr
    .setEncoding('utf8')
    .on('data', (chunk: string) => tail.add(chunk))
    .on('error', () => {})
  const exited = child.exited.then(async ({ code, signal, ending }) => {
    const exit = { code, signal, reason: ending ?? ('exited' as const) }
    await onEnd(exit)
    return exit
  })
  const stdout = pace(limits.output_bytes_per_s)
  child.stdout.on('error', () => stdout.end())
  return {
    stdin: child.stdin,
    stdout: child.stdout.pipe(stdout),
    exited,
    stderrTail: () => tail.read(),
    async [Symbol.asyncDispose]() {
      await child[Symbol.asyncDispose]()
      await exited
    },
  }
}

/** What every package has in its environment. */
const environment = {
  PATH: inside.path,
  HOME: inside.home,
  TMPDIR: '/tmp',
  LANG: 'C.UTF-8',
  NODE_USE_SYSTEM_CA: '1',
  PYTHONDONTWRITEBYTECODE: '1',
  NO_UPDATE_NOTIFIER: '1',
}

function checkRequest({ home, args, env }: RunRequest): void {
  if (!/^[a-z0-9-]{1,64}$/.test(home))
    throw new Failure('invalid_request', 'This is not the id of an approval.')
  if (args.some((arg) => arg.includes('\0')) || args.join('').length > maxArguments) {
    throw new Failure('invalid_request', 'The arguments are longer than 64 KiB or contain a null character.')
  }
  for (const [name, value] of Object.entries(env)) {
    if (!isVariableName(name)) throw new Failure('invalid_request', 'This is not the name of a variable.')
    if (controlsProcess(name)) {
      throw new Failure('invalid_request', `The variable ${name} decides what else the package runs.`)
    }
    if (value.includes('\0') || value.length > maxArguments) {
      throw new Failure(
        'invalid_request',
        `The value of ${name} is longer than 64 KiB or contains a null character.`,
      )
    }
  }
}

function nameOf({ registry_type, identifier, version }: PackageSource): string {
  return `${registry_type} ${identifier}@${version}`
}

/** The hosts of a registry; PyPI serves its files from another host than its index. */
function hostsOf(base: string): string[] {
  const { protocol, hostname, port } = new URL(base)
  const own = `${hostname}:${port || (protocol === 'http:' ? 80 : 443)}`
  return hostname === 'pypi.org' ? [own, 'files.pythonhosted.org'] : [own]
}

async function removeLarge(cache: string): Promise<void> {
  if ((await diskUsage(cache)) > maxCache) await rm(cache, { recursive: true, force: true })
}

async function asFailure<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (thrown) {
    throw Failure.from(thrown)
  }
}
