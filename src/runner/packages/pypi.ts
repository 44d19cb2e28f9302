import { createHash } from 'node:crypto'
import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Failure } from '../../../schemas/failure.ts'
import { findPython, findUv, type Program, type Python } from '../programs.ts'
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
import { readInstalled, writeShared } from './files.ts'
import { compareReleases, normalVersion, parseVersion, satisfiesPython } from './python-versions.ts'

interface ReleaseFile {
  readonly filename: string
  readonly sha256: string | null
  readonly python: string | null
  readonly yanked: string | boolean
  readonly uploaded_at: string | null
}

interface LookUp {
  readonly missing?: 'package'
  readonly failed?: string
  readonly files?: readonly ReleaseFile[]
}

const maxLock = 32 * 1024 ** 2
const maxEntryPoints = 1024 ** 2
const lockFile = 'requirements.txt'
const virtualEnvironment = `${inside.package}/venv`
const settings = {
  UV_PYTHON_DOWNLOADS: 'never',
  UV_NO_CONFIG: '1',
  UV_NO_PROGRESS: '1',
  UV_SYSTEM_CERTS: '1',
  UV_CONCURRENT_DOWNLOADS: String(maxConnections),
}

/** Packages of a Python index that answers in JSON (PEP 691, PEP 700), installed by uv. */
export const pypi: Ecosystem = { lockFile, resolve, lock, install, program: programOf }

async function resolve(source: PackageSource, registry: RegistryAccess): Promise<ResolvedPackage> {
  if (!/^[a-z0-9](?:[a-z0-9._-]{0,198}[a-z0-9])?$/i.test(source.identifier)) {
    throw new Failure('invalid_request', 'This is not the name of a package of PyPI.')
  }
  // Before anybody is asked to approve it.
  findUv(registry.path)
  const releases = await releasesOf(source.identifier, registry)
  const version = source.version === 'latest' ? newest(releases) : normalVersion(source.version)
  const files = version === undefined ? undefined : releases.get(version)
  if (version === undefined || !files) {
    throw new Failure('not_found', `Version ${source.version} of ${source.identifier} does not exist.`, {
      hint: `The newest version is ${newest(releases) ?? 'unknown'}.`,
    })
  }
  await refuseUnusable(source.identifier, version, files, registry)
  const times = files.flatMap(({ uploaded_at }) => uploaded_at ?? []).sort()
  return {
    source: { ...source, version },
    integrity: integrityOf(hashesOf(files)),
    published_at: times[0] ?? null,
    warning: hasWheel(files) ? null : 'It has no wheel: its installation builds it, which runs its code.',
  }
}

async function refuseUnusable(
  name: string,
  version: string,
  files: readonly ReleaseFile[],
  { path }: RegistryAccess,
) {
  const yanked = files.find((file) => file.yanked !== false)?.yanked
  if (yanked !== undefined && files.every((file) => file.yanked !== false)) {
    const reason = typeof yanked === 'string' && yanked !== '' ? `: ${yanked.slice(0, 300)}` : ''
    throw new Failure(
      'not_installable',
      `${name} ${version} was withdrawn (yanked) by its publisher${reason}.`,
      {
        hint: 'Approve another version.',
      },
    )
  }
  const python = await findPython(path)
  const needs = files[0]?.python ?? ''
  if (files.every((file) => !satisfiesPython(python.version, file.python ?? ''))) {
    throw new Failure(
      'not_installable',
      `${name} ${version} needs Python ${needs}; here is ${python.version}.`,
      {
        hint: 'Approve another version, or put a Python that fits first on the PATH of the gateway.',
      },
    )
  }
}

/** The files of each version. */
async function releasesOf(name: string, registry: RegistryAccess): Promise<Map<string, ReleaseFile[]>> {
  const answer = (await ask(registry, 'pypi', normalName(name), '')) as LookUp
  if (answer.failed !== undefined) throw registryFailure(registry, answer.failed)
  if (answer.missing !== undefined) throw new Failure('not_found', `PyPI has no package ${name}.`)
  const files = (answer.files ?? []).filter(({ filename }) => /\.(?:whl|tar\.gz|zip)$/.test(filename))
  return Map.groupBy(files, ({ filename }) => normalVersion(versionOf(filename, name)))
}

function versionOf(filename: string, name: string): string {
  if (filename.endsWith('.whl')) return filename.split('-')[1] ?? ''
  // A source archive has the name, in any spelling, a hyphen and the version.
  return filename.slice(name.length + 1).replace(/\.(?:tar\.gz|zip)$/, '')
}

function newest(releases: ReadonlyMap<string, readonly ReleaseFile[]>): string | undefined {
  const usable = [...releases].filter(([, files]) => files.some((file) => file.yanked === false))
  const final = usable.filter(([version]) => !parseVersion(version).isPrerelease)
  const [first] = (final.length > 0 ? final : usable).sort(
    ([a], [b]) => compareReleases(parseVersion(b).release, parseVersion(a).release) || (a < b ? 1 : -1),
  )
  return first?.[0]
}

function hasWheel(files: readonly ReleaseFile[]): boolean {
  return files.some(({ filename }) => filename.endsWith('.whl'))
}

/** Digests of the wheels, else of the source archives. */
function hashesOf(files: readonly ReleaseFile[]): string[] {
  const counted = hasWheel(files) ? files.filter(({ filename }) => filename.endsWith('.whl')) : files
  return counted.flatMap(({ sha256 }) => sha256 ?? []).sort()
}

/** The digest of the only file; of several files, the digest of their digests. */
function integrityOf(hashes: readonly string[]): string {
  const [first = '', ...more] = hashes
  const digest =
    more.length === 0 ? Buffer.from(first, 'hex') : createHash('sha256').update(hashes.join('\n')).digest()
  return `sha256-${digest.toString('base64')}`
}

async function lock(
  { source, integrity }: ResolvedPackage,
  before: string | null,
  { registry, work, scripts }: Installation,
) {
  const { identifier, version } = source
  const files = (await releasesOf(identifier, registry)).get(version)
  const hashes = hashesOf(files ?? [])
  if (integrityOf(hashes) !== integrity) {
    throw new Failure('precondition_failed', `${identifier} ${version} has changed in the registry.`, {
      hint: 'Look at the package again and approve what the registry has now.',
    })
  }
  await writeShared(join(work.package, 'requirements.in'), `${identifier}==${version}\n`)
  const python = await findPython(registry.path)
  const time = before === null ? [] : ['--exclude-newer', before]
  const output = ['--generate-hashes', '--no-header', '--no-annotate', '--output-file', lockFile]
  const result = await runUv(
    ['compile', 'requirements.in', ...output, ...time, ...pythonOption(python.command)],
    scripts,
    registry,
    python,
  )
  if (result.code !== 0) return { problem: lastLines(result.stderr) }
  const path = join(work.package, lockFile)
  const requirements = (await readInstalled(work.package, lockFile, maxLock)).split(/\n(?=\S)/)
  const own = requirements.findIndex(
    (text) => normalName(text.split('==')[0] ?? '') === normalName(identifier),
  )
  // Without its own line nothing would hold the package to the digest that was approved.
  if (own === -1) return { problem: `${identifier} is not among what was resolved for it.` }
  requirements[own] = `${identifier}==${version} ${hashes.map((hash) => `--hash=sha256:${hash}`).join(' ')}`
  await writeShared(path, `${requirements.map((text) => text.trimEnd()).join('\n')}\n`)
  return { dependencies: requirements.length - 1 }
}

async function install({ source }: ResolvedPackage, { registry, scripts }: Installation): Promise<void> {
  const python = await findPython(registry.path)
  const uv = withPython(findUv(registry.path), python)
  const made = await registry.run(
    uv,
    ['venv', '--no-project', ...pythonOption(python.command), virtualEnvironment],
    settings,
  )
  const options = [
    '--require-hashes',
    '--link-mode=copy',
    '--compile-bytecode',
    ...pythonOption([`${virtualEnvironment}/bin/python`]),
  ]
  const result =
    made.code === 0 ? await runUv(['sync', lockFile, ...options], scripts, registry, python) : made
  if (result.code === 0) return
  const detail = lastLines(result.stderr)
  const what = `${source.identifier} ${source.version}`
  if (/hash mismatch/i.test(detail)) {
    throw new Failure('precondition_failed', `A file of ${what} differs from the lock: ${detail}`)
  }
  throw new Failure('not_installable', `uv cannot install ${what}: ${detail}`)
}

function runUv(
  [action = '', ...args]: readonly string[],
  scripts: boolean,
  registry: RegistryAccess,
  python: Python,
) {
  const wheels = scripts ? [] : ['--only-binary', ':all:']
  const all = ['pip', action, ...args, ...wheels, '--default-index', registry.base]
  return registry.run(withPython(findUv(registry.path), python), all, settings)
}

const pythonOption = ([executable = '']: readonly string[]) => ['--python', executable]

function withPython(uv: Program, python: Python): Program {
  return { command: uv.command, reads: { ...uv.reads, ...python.reads } }
}

/** The package's console script: of several, the one named like the package. */
async function programOf({ source }: ResolvedPackage, folder: string, path: string): Promise<Program> {
  const found = globSync('venv/lib/python*/site-packages/*.dist-info', { cwd: folder })
  const own = found.find(
    (name) => normalName(basename(name).split('-')[0] ?? '') === normalName(source.identifier),
  )
  const text =
    own === undefined
      ? ''
      : await readInstalled(folder, join(own, 'entry_points.txt'), maxEntryPoints).catch(() => '')
  const section = /^\[console_scripts\]\s*$([^[]*)/m.exec(text)?.[1] ?? ''
  const names = section.split('\n').flatMap((line) => /^\s*([\w.-]+)\s*=/.exec(line)?.[1] ?? [])
  const name =
    names.find((script) => normalName(script) === normalName(source.identifier)) ??
    (names.length === 1 ? names[0] : undefined)
  if (name === undefined) {
    const reason =
      names.length === 0 ? 'has no program' : `has several programs and none of its name: ${names.join(', ')}`
    throw new Failure('not_installable', `${source.identifier} ${source.version} ${reason}.`)
  }
  const { reads } = await findPython(path)
  return { command: [`${virtualEnvironment}/bin/python`, `${virtualEnvironment}/bin/${name}`], reads }
}

/** PEP 503. */
function normalName(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replaceAll(/[-_.]+/g, '-')
}
