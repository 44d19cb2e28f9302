import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '../../schemas/failure.ts'
import type { Ecosystem, RegistryAccess } from './packages/ecosystem.ts'
import { openWorkspace, runJob, type Workspace } from './packages/jobs.ts'
import { createMcpb } from './packages/mcpb.ts'
import { npm } from './packages/npm.ts'
import { createOci } from './packages/oci.ts'
import { pypi } from './packages/pypi.ts'
import { openPackageStore } from './packages/store.ts'
import type {
  InstalledPackage,
  InstallOptions,
  PackageProcess,
  PackageSource,
  ResolvedPackage,
  RunLimits,
  Runner,
  RunnerOptions,
  RunRequest,
  SandboxReport,
} from './runner.ts'
import { findImages, findSandbox } from './sandbox/find-sandbox.ts'
import type { Images } from './sandbox/images.ts'
import type { Sandbox } from './sandbox/sandbox.ts'
import { diskUsage } from './sandbox/usage.ts'
import { checkRequest, homesIn, startPackage } from './start-package.ts'

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

/** Opens a runner; it looks for a sandbox at the first use. */
export function createRunner(options: RunnerOptions): Runner {
  return new PackageRunner(options)
}

class PackageRunner implements Runner {
  readonly #options: RunnerOptions
  readonly #store: ReturnType<typeof openPackageStore>
  readonly #ecosystems: Readonly<Record<PackageSource['registry_type'], Ecosystem>>
  /** With the names of their HOMEs. */
  readonly #running = new Map<AsyncDisposable, string>()
  #found: Promise<Sandbox> | undefined
  #foundImages: Promise<Images> | undefined
  #cleaned: Promise<void> | undefined

  constructor(options: RunnerOptions) {
    const { folder, registries, download } = options
    this.#options = options
    this.#store = openPackageStore(folder)
    this.#ecosystems = {
      npm,
      pypi,
      oci: createOci({ hosts: registries.images, images: () => this.#images() }),
      mcpb: createMcpb({ origins: registries.bundles, download }),
    }
  }

  async sandbox(type?: PackageSource['registry_type']): Promise<SandboxReport> {
    return (await (type === 'oci' ? this.#images() : this.#sandbox())).report
  }

  resolve(source: PackageSource, signal: AbortSignal): Promise<ResolvedPackage> {
    return asFailure(() =>
      this.#inWorkspace(false, async (work) =>
        this.#ecosystems[source.registry_type].resolve(
          source,
          await this.#registryOf(source, work, signal),
          work,
        ),
      ),
    )
  }

  install(
    resolved: ResolvedPackage,
    { scripts, lock }: InstallOptions,
    signal: AbortSignal,
    progress: (text: string) => void = () => {},
  ): Promise<InstalledPackage> {
    return asFailure(() =>
      this.#inWorkspace(scripts, async (work) => {
        const registry = await this.#registryOf(resolved.source, work, signal)
        const { program: _, ...installed } = await this.#store.install(
          this.#ecosystems[resolved.source.registry_type],
          resolved,
          { scripts, ...(lock !== undefined && { lock }) },
          { registry, work, scripts },
          progress,
        )
        return installed
      }),
    )
  }

  start(request: RunRequest, signal: AbortSignal): Promise<PackageProcess> {
    return asFailure(async () => {
      signal.throwIfAborted()
      checkRequest(request)
      const { lock, scripts, home, resolved } = request
      const name = nameOf(resolved.source)
      const program = await this.#installed(request, name)
      const sandbox = await this.#usableSandbox()
      if (sandbox.report.kind === 'none' && program.image === undefined) {
        const detail = `${name} starts without a sandbox. ${sandbox.report.not_limited.join(' ')}`
        this.#options.onEvent({ type: 'unsandboxed', package: name, detail })
      }
      const opened = { sandbox, images: () => this.#images() }
      const folder = this.#store.folderOf(lock, scripts)
      const started = await startPackage(opened, this.#options, request, { name, folder, program })
      this.#running.set(started, home)
      void started.exited.then(() => this.#running.delete(started))
      return started
    })
  }

  forgetHome(home: string): Promise<void> {
    return asFailure(async () => {
      // The volumes of an image are beside its HOME.
      const isOf = (name: string) => name.startsWith(home) && /^(?:$|[-.])/.test(name.slice(home.length))
      const ending = [...this.#running].filter(([, name]) => isOf(name))
      await Promise.all(ending.map(([started]) => started[Symbol.asyncDispose]()))
      const folder = homesIn(this.#options.folder)
      const names = await readdir(folder).catch(() => [])
      await Promise.all(
        names.filter(isOf).map((name) => rm(join(folder, name), { recursive: true, force: true })),
      )
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#running.keys()].map((started) => started[Symbol.asyncDispose]()))
  }

  /** The program of the installation that was approved. */
  async #installed({ lock, scripts, resolved }: RunRequest, name: string) {
    const installed = await this.#store.find(lock, scripts)
    if (!installed) {
      throw new Failure('wrong_state', `${name} is not installed.`, { hint: 'Install it, then start it.' })
    }
    if (installed.resolved.integrity === resolved.integrity) return installed.program
    throw new Failure(
      'precondition_failed',
      `${name} is installed with another integrity than the approved one.`,
    )
  }

  #sandbox(): Promise<Sandbox> {
    this.#found ??= findSandbox(this.#options)
    return this.#found
  }

  #images(): Promise<Images> {
    this.#foundImages ??= findImages(this.#options)
    return this.#foundImages
  }

  async #usableSandbox(): Promise<Sandbox> {
    const sandbox = await this.#sandbox()
    if (sandbox.report.problem !== null) throw new Failure('not_configured', sandbox.report.problem)
    return sandbox
  }

  async #registryOf(source: PackageSource, work: Workspace, signal: AbortSignal): Promise<RegistryAccess> {
    const { registries, path, certificates } = this.#options
    const sandbox = await this.#usableSandbox()
    const type = source.registry_type
    const base = type === 'npm' || type === 'pypi' ? registries[type].replace(/\/+$/, '') : undefined
    const hosts = base === undefined ? [] : hostsOf(base)
    return {
      base: base ?? '',
      path,
      signal,
      run: (program, args, env = {}) =>
        runJob(sandbox, { program, args, env, work, hosts, certificates }, signal),
    }
  }

  async #inWorkspace<T>(scripts: boolean, run: (work: Workspace) => Promise<T>): Promise<T> {
    const { folder } = this.#options
    const cache = join(folder, 'cache')
    this.#cleaned ??= removeLarge(cache).catch((fault) => {
      // The next installation tries again.
      this.#cleaned = undefined
      throw fault
    })
    await this.#cleaned
    await using work = await openWorkspace(folder, scripts ? undefined : cache)
    return await run(work)
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
