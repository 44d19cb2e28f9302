import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '../../schemas/failure.ts'
import type { Ecosystem, Registry } from './packages/ecosystem.ts'
import { openWorkspace, runJob, type Workspace } from './packages/jobs.ts'
import { createMcpb } from './packages/mcpb.ts'
import { npm } from './packages/npm.ts'
import { createOci } from './packages/oci.ts'
import { pypi } from './packages/pypi.ts'
import { openPackageStore } from './packages/store.ts'
import type { PackageSource, RunLimits, Runner, RunnerOptions } from './runner.ts'
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
