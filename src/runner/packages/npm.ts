import { join, normalize } from 'node:path'
import semver from 'semver'
import { Failure } from '../../../schemas/failure.ts'
import { findNpm, nodeProgram, type Program } from '../programs.ts'
import type { PackageSource, ResolvedPackage } from '../runner.ts'
import { inside } from '../sandbox/sandbox.ts'
import {
  ask,
  type Ecosystem,
  type Installation,
  lastLines,
  maxConnections,
  type RegistryAccess,
  registryFailure,
} from './ecosystem.ts'
import { firstLine, readInstalledJson, writeShared } from './files.ts'

interface LookUp {
  readonly missing?: 'package' | 'version'
  readonly removed?: boolean
  readonly newest?: string | null
  readonly versions?: readonly string[]
  readonly failed?: string
  readonly version?: string
  readonly integrity?: string
  readonly published_at?: string | null
  readonly node?: string | null
  readonly warning?: string | null
}

interface Lock {
  readonly packages?: Readonly<Record<string, { readonly integrity?: string }>>
}

interface Manifest {
  readonly bin?: string | Readonly<Record<string, string>>
}

const maxLock = 32 * 1024 ** 2
const maxManifest = 4 * 1024 ** 2
const lockFile = 'package-lock.json'
const namePattern = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/i

/** Packages of an npm registry, installed by npm. */
export const npm: Ecosystem = { lockFile, resolve, lock, install, program: programOf }

async function resolve(source: PackageSource, registry: RegistryAccess): Promise<ResolvedPackage> {
  if (!namePattern.test(source.identifier) || source.identifier.length > 214) {
    throw new Failure('invalid_request', 'This is not the name of a package of npm.')
  }
  const look = async (version: string) => (await ask(registry, 'npm', source.identifier, version)) as LookUp
  const found = await look(source.version)
  const exact =
    found.missing === 'version' ? semver.maxSatisfying([...(found.versions ?? [])], source.version) : null
  const answer = exact === null ? found : await look(exact)
  if (answer.failed !== undefined) throw registryFailure(registry, answer.failed)
  if (answer.missing !== undefined) throw missing(source, answer)
  const { version, integrity, node } = answer
  if (version === undefined || integrity === undefined || semver.valid(version) === null) {
    throw registryFailure(registry, 'the answer states no version or no integrity')
  }
  if (node && semver.validRange(node) !== null && !semver.satisfies(process.version, node)) {
    throw new Failure(
      'not_installable',
      `${source.identifier} ${version} needs Node.js ${node}; here is ${process.version}.`,
      {
        hint: 'Approve another version, or run the gateway by a Node.js that fits.',
      },
    )
  }
  return {
    source: { ...source, version },
    integrity,
    published_at: answer.published_at ?? null,
    warning: answer.warning ?? null,
  }
}

function missing({ identifier, version }: PackageSource, { missing, removed, newest }: LookUp): Failure {
  if (missing === 'package') return new Failure('not_found', `npm has no package ${identifier}.`)
  const what = removed ? 'was removed from the registry' : 'does not exist'
  return new Failure('not_found', `Version ${version} of ${identifier} ${what}.`, {
    ...(newest && { hint: `The newest version is ${newest}.` }),
  })
}

/** Writes the package.json of a package that has this one as its only dependency. */
async function writeManifest(
  { identifier, version }: PackageSource,
  work: Installation['work'],
): Promise<void> {
  const manifest = { private: true, dependencies: { [identifier]: version } }
  await writeShared(join(work.package, 'package.json'), JSON.stringify(manifest))
}

/** Writes the lock file. `before` as for npm's option of that name. */
async function lock(
  { source, integrity }: ResolvedPackage,
  before: string | null,
  { registry, work, scripts }: Installation,
) {
  await writeManifest(source, work)
  const time = before === null ? [] : [`--before=${before}`]
  const result = await runNpm(['install', '--package-lock-only', ...time], scripts, registry)
  if (result.code !== 0) return { problem: lastLines(result.stderr) }
  const { packages = {} } = (await readInstalledJson(work.package, lockFile, maxLock)) as Lock
  if (packages[`node_modules/${source.identifier}`]?.integrity !== integrity) {
    throw new Failure(
      'precondition_failed',
      `${source.identifier} ${source.version} has changed in the registry.`,
      {
        hint: 'Look at the package again and approve what the registry has now.',
      },
    )
  }
  return { dependencies: Object.keys(packages).length - 2 }
}

async function install(resolved: ResolvedPackage, { registry, work, scripts }: Installation): Promise<void> {
  const { source } = resolved
  await writeManifest(source, work)
  const result = await runNpm(['ci'], scripts, registry)
  if (result.code === 0) return
  const detail = lastLines(result.stderr)
  if (detail.includes('EINTEGRITY')) {
    throw new Failure(
      'precondition_failed',
      `A file of ${source.identifier} ${source.version} differs from the lock: ${detail}`,
    )
  }
  throw new Failure('not_installable', `npm cannot install ${source.identifier} ${source.version}: ${detail}`)
}

function runNpm(args: readonly string[], scripts: boolean, registry: RegistryAccess) {
  const options = [
    '--omit=dev',
    '--no-audit',
    '--no-fund',
    '--no-update-notifier',
    '--loglevel=error',
    '--fetch-retries=1',
  ]
  const all = [...args, ...options, `--registry=${registry.base}`, `--ignore-scripts=${!scripts}`]
  return registry.run(findNpm(registry.path), all, {
    npm_config_cache: `${inside.home}/.npm`,
    npm_config_maxsockets: String(maxConnections),
  })
}

/** The package's `bin`: of several, the one named like the package. */
async function programOf({ source }: ResolvedPackage, folder: string): Promise<Program> {
  const root = join('node_modules', source.identifier)
  const { bin } = (await readInstalledJson(folder, join(root, 'package.json'), maxManifest)) as Manifest
  const programs = typeof bin === 'string' ? { [source.identifier]: bin } : (bin ?? {})
  const unscoped = source.identifier.replace(/^@[^/]*\//, '')
  const file =
    programs[unscoped] ?? (Object.keys(programs).length === 1 ? Object.values(programs)[0] : undefined)
  if (typeof file !== 'string') {
    const names = Object.keys(programs).join(', ')
    const reason = names === '' ? 'has no program' : `has several programs and none of its name: ${names}`
    throw new Failure('not_installable', `${source.identifier} ${source.version} ${reason}.`)
  }
  const path = normalize(join(root, file))
  if (!path.startsWith(`${root}/`))
    throw new Failure('not_installable', `${source.identifier} names a program outside of itself.`)
  const first = await firstLine(folder, path)
  const script = `${inside.package}/${path}`
  if (first.startsWith('#!') && !/\bnode\b/.test(first)) return { command: [script], reads: {} }
  const flags = /^#!.*\s-S\s+node\s+(.*)$/.exec(first)?.[1]?.trim().split(/\s+/) ?? []
  return { command: [...nodeProgram.command, ...flags, script], reads: {} }
}
