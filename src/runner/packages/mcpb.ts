import { access } from 'node:fs/promises'
import { join } from 'node:path'
import semver from 'semver'
import { z } from 'zod'
import { Failure } from '../../../schemas/failure.ts'
import type { NamedInput } from '../../../schemas/package.ts'
import { parseJson } from '../../common/json.ts'
import { controlsProcess, isVariableName } from '../../common/variable-names.ts'
import { unpack } from '../inside-scripts.ts'
import { findPython, nodeProgram } from '../programs.ts'
import type { PackageSource, ResolvedPackage, RunnerOptions } from '../runner.ts'
import { inside } from '../sandbox/sandbox.ts'
import { type BundleLaunch, BundleOption, variableOf } from './bundle-launch.ts'
import type { Ecosystem, Installation, InstalledProgram, RegistryAccess } from './ecosystem.ts'
import { readInstalledJson, writeShared } from './files.ts'
import { satisfiesPython } from './python-versions.ts'

const maxBundle = 200 * 1024 ** 2
const maxManifest = 1024 ** 2
const lockFile = 'bundle.json'
const archive = '/run/bundle.mcpb'

const command = z.string().max(1024)
const args = z.array(z.string().max(8192)).max(200)
const env = z.record(z.string(), z.string().max(8192))
const Override = z.object({ command: command.optional(), args: args.optional(), env: env.default({}) })
const Config = z.object({
  command,
  args: args.default([]),
  env: env.default({}),
  platform_overrides: z.record(z.string(), Override).default({}),
})

/** What counts here of the manifest of a bundle (MCPB manifest 0.1 to 0.4). */
const Manifest = z.object({
  version: z.string().min(1).max(255),
  server: z.object({
    type: z.string().max(40),
    entry_point: z.string().max(1024).optional(),
    mcp_config: Config.optional(),
  }),
  compatibility: z
    .object({
      platforms: z.array(z.string()).optional(),
      runtimes: z.object({ node: z.string().optional(), python: z.string().optional() }).optional(),
    })
    .default({}),
  user_config: z
    .record(z.string().min(1).max(200), BundleOption)
    .default({})
    .refine((options) => Object.keys(options).length <= 100, { error: 'At most 100 values.' }),
})
type Manifest = z.infer<typeof Manifest>

type Sources = Pick<RunnerOptions, 'download'> & { readonly origins: readonly string[] }

/** MCP bundles, each from the address that its entry states, with the digest that it states. */
export function createMcpb(sources: Sources): Ecosystem {
  return {
    lockFile,
    async resolve(source, registry, work) {
      const integrity = integrityOf(source)
      const bytes = await download(source, sources, registry.signal)
      const path = join(work.root, 'bundle.mcpb')
      await writeShared(path, bytes)
      const manifest = parseManifest(await runUnpack(path, [], registry), source)
      await checkCompatible(manifest, source, registry.path)
      const version = source.version === 'latest' ? manifest.version : source.version
      const inputs = inputsOf(manifest, source)
      return { source: { ...source, version }, integrity, published_at: null, warning: null, inputs }
    },
    async lock({ source }, _before, { work }) {
      await writeShared(join(work.package, lockFile), JSON.stringify({ sha256: source.file_sha256 }))
      return { dependencies: 0 }
    },
    async install({ source }, { registry, work }: Installation) {
      const path = join(work.root, 'bundle.mcpb')
      await writeShared(path, await download(source, sources, registry.signal))
      await runUnpack(path, [inside.package], registry)
    },
    program: programOf,
  }
}

function integrityOf({ file_sha256 }: PackageSource): string {
  if (file_sha256 !== undefined) return `sha256-${Buffer.from(file_sha256, 'hex').toString('base64')}`
  throw new Failure('not_installable', 'A bundle whose entry states no SHA-256 cannot be checked.')
}

async function download(
  { identifier, file_sha256 }: PackageSource,
  { origins, download }: Sources,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const origin = URL.parse(identifier)?.origin
  if (origin === undefined || !origins.includes(origin)) {
    throw new Failure(
      'not_installable',
      `${origin ?? 'This'} is not an origin from which this gateway takes bundles.`,
      {
        hint: `DRAGOMAN_BUNDLE_ORIGINS names them: ${origins.join(', ') || 'none'}.`,
      },
    )
  }
  const bytes = await download(identifier, maxBundle, signal)
  // Not `createHash`: a digest of many megabytes would delay every other request.
  const digest = Buffer.from(await crypto.subtle.digest('SHA-256', new Uint8Array(bytes))).toString('hex')
  if (digest === file_sha256) return bytes
  throw new Failure(
    'precondition_failed',
    `The bundle has the SHA-256 ${digest}, which its entry does not state.`,
    {
      hint: 'Ask its publisher to state the digest of this version in the entry.',
    },
  )
}

async function runUnpack(path: string, args: readonly string[], registry: RegistryAccess): Promise<string> {
  const program = {
    command: nodeProgram.command,
    reads: { ...nodeProgram.reads, ...unpack.reads, [archive]: path },
  }
  const { code, stdout, stderr } = await registry.run(program, [unpack.path, archive, ...args])
  if (code === 0) return stdout
  throw new Failure('not_installable', `The bundle cannot be unpacked. ${stderr.trim().slice(-500)}`)
}

function parseManifest(text: string, source: PackageSource): Manifest {
  const value = parseJson(text)
  if (value === undefined)
    throw new Failure('not_installable', `The manifest.json of ${source.identifier} is not JSON.`)
  const { data, error } = Manifest.safeParse(value)
  if (data) return data
  throw new Failure(
    'not_installable',
    `The manifest.json is not valid. ${z.prettifyError(error).slice(0, 500)}`,
  )
}

async function checkCompatible(
  { compatibility, server }: Manifest,
  { identifier, version }: PackageSource,
  path: string,
): Promise<void> {
  const { platforms, runtimes = {} } = compatibility
  const refuse = (needs: string) => new Failure('not_installable', `${identifier} ${version} needs ${needs}.`)
  if (platforms && !platforms.includes(process.platform)) {
    throw refuse(`${platforms.join(' or ').slice(0, 200)}; here is ${process.platform}`)
  }
  if (server.type === 'node' && runtimes.node && !semver.satisfies(process.version, runtimes.node)) {
    throw refuse(`Node.js ${runtimes.node.slice(0, 100)}; here is ${process.version}`)
  }
  if (server.type === 'python' && runtimes.python) {
    const { version: here } = await findPython(path)
    if (!satisfiesPython(here, runtimes.python))
      throw refuse(`Python ${runtimes.python.slice(0, 100)}; here is ${here}`)
  }
}

function inputsOf({ user_config }: Manifest, { identifier }: PackageSource): NamedInput[] {
  return Object.entries(user_config).map(([key, option]) => {
    const name = variableOf(key)
    if (!isVariableName(name) || controlsProcess(name)) {
      throw new Failure('not_installable', `${identifier} asks for a value by the name ${name.slice(0, 60)}.`)
    }
    const { type, title = '', description = '', required, sensitive } = option
    const format = type === 'number' || type === 'boolean' ? type : 'string'
    return {
      name,
      format,
      description: `${title}. ${description}`.slice(0, 1000),
      is_secret: sensitive,
      is_required: required && option.default === undefined,
    }
  })
}

async function programOf(
  { source }: ResolvedPackage,
  folder: string,
  path: string,
): Promise<InstalledProgram> {
  const manifest = Manifest.safeParse(await readInstalledJson(folder, 'manifest.json', maxManifest)).data
  if (!manifest) throw new Failure('not_installable', 'The manifest.json of the bundle is not valid.')
  const { type, entry_point = '' } = manifest.server
  const { platform_overrides, ...stated } = manifest.server.mcp_config ?? {
    command: type === 'binary' ? entry_point : type,
    args: type === 'binary' ? [] : [`\${__dirname}/${entry_point}`],
    env: {},
    platform_overrides: {},
  }
  const { command = stated.command, args = stated.args, env } = platform_overrides[process.platform] ?? {}
  const launch = { args: args.map((arg) => (arg === entry_point ? `${inside.package}/${arg}` : arg)) }
  const bundle: BundleLaunch = { ...launch, env: { ...stated.env, ...env }, options: manifest.user_config }
  checkEnvironment(bundle.env, source)
  if (type === 'node' && command === 'node') return { ...nodeProgram, bundle }
  if (type === 'python' && /^python3?$/.test(command)) return { ...(await findPython(path)), bundle }
  if (type === 'binary') return { command: [await binaryIn(folder, command)], reads: {}, bundle }
  const hint = 'Bundles of Node.js, of Python and of programs with all that they need can be run.'
  throw new Failure(
    'not_installable',
    `The bundle runs ${JSON.stringify(command.slice(0, 100))} for a server of the type ${type}.`,
    { hint },
  )
}

/** The path in the sandbox of a program of the bundle. */
async function binaryIn(folder: string, command: string): Promise<string> {
  const path = command.replace(/^\$\{__dirname\}\//, '').replace(/^\.\//, '')
  const isOwn = path.split('/').every((part) => part !== '' && part !== '..' && part !== '.')
  const exists =
    isOwn &&
    (await access(join(folder, path)).then(
      () => true,
      () => false,
    ))
  if (exists) return `${inside.package}/${path}`
  throw new Failure('not_installable', `The bundle has no program ${JSON.stringify(command.slice(0, 100))}.`)
}

/** A bundle may find modules of its own: it runs its own code anyway. */
function checkEnvironment(env: Readonly<Record<string, string>>, { identifier }: PackageSource): void {
  for (const [name, value] of Object.entries(env)) {
    const isOwnModules =
      /^(?:PYTHONPATH|NODE_PATH)$/.test(name) && /^(?:\$\{__dirname\}\/[\w./-]+:?)+$/.test(value)
    if (isVariableName(name) && (!controlsProcess(name) || isOwnModules)) continue
    throw new Failure(
      'not_installable',
      `${identifier} sets the variable ${name.slice(0, 60)}, which decides what else runs.`,
    )
  }
}
