import type { Package } from '../../../schemas/package.ts'
import { askPublisher, refuse } from './refuse.ts'

/** A package registry whose packages a known program runs. */
interface PackageKind {
  readonly identifier: RegExp
  /** The public registries that `registry_base_url` may name, without a slash at the end. */
  readonly registries: readonly string[]
  /** The programs that `runtime_hint` may name, by the name that is run; the first one runs packages without a hint. */
  readonly runtimes: Readonly<Record<string, Runtime>>
  /** The package as the program takes it. */
  reference(identifier: string, version: string | undefined, base: string | undefined): string
}

interface Runtime {
  readonly command: string
  /** Arguments before those that the package states. */
  readonly before: readonly string[]
  /** Arguments between the package and its own arguments. */
  readonly after?: readonly string[]
}

const npx: Runtime = { command: 'npx', before: ['-y'] }
const bunx: Runtime = { command: 'bunx', before: [] }
const uvx: Runtime = { command: 'uvx', before: [] }
const docker: Runtime = { command: 'docker', before: ['run', '-i', '--rm'] }

/** Programs take a name that ends like an archive for a file of the folder. */
const pep508 =
  /^(?!.*\.(?:whl|zip|tgz|tar\.gz)$)[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?(?:\[[A-Za-z0-9][A-Za-z0-9,._-]*\])?$/
const ociPath = '[a-z0-9]+(?:(?:\\.|_{1,2}|-+)[a-z0-9]+)*'
const oci = new RegExp(
  `^(?:[a-z0-9.-]+(?::\\d{1,5})?/)?${ociPath}(?:/${ociPath})*(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$`,
)
/** Hosts of public image registries; those that end with a dot-name cover the names below. */
const imageHosts =
  /^(?:docker\.io|index\.docker\.io|registry-1\.docker\.io|ghcr\.io|quay\.io|gcr\.io|mcr\.microsoft\.com|public\.ecr\.aws|registry\.gitlab\.com|[a-z0-9-]+\.pkg\.dev|[a-z0-9]+\.azurecr\.io)$/
const dockerHub = /^(?:(?:index\.|registry-1\.)?docker\.io|hub\.docker\.com|registry\.hub\.docker\.com)$/

const kinds: Readonly<Record<string, PackageKind>> = {
  npm: {
    identifier: /^(?!.*\.(?:tgz|tar|tar\.gz)$)(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*$/i,
    registries: ['https://registry.npmjs.org'],
    runtimes: { npx, bunx, bun: bunx },
    reference: (identifier, version) => (version === undefined ? identifier : `${identifier}@${version}`),
  },
  pypi: {
    identifier: pep508,
    registries: ['https://pypi.org', 'https://pypi.org/simple', 'https://files.pythonhosted.org'],
    runtimes: {
      uvx,
      uv: { command: 'uv', before: ['tool', 'run'] },
      pipx: { command: 'pipx', before: ['run'] },
    },
    reference: (identifier, version) => (version === undefined ? identifier : `${identifier}==${version}`),
  },
  oci: {
    identifier: oci,
    registries: [],
    runtimes: { docker, podman: { ...docker, command: 'podman' } },
    reference: imageReference,
  },
  nuget: {
    identifier: /^[A-Za-z0-9_]+(?:[.-][A-Za-z0-9_]+)*$/,
    registries: ['https://api.nuget.org', 'https://api.nuget.org/v3/index.json', 'https://www.nuget.org'],
    runtimes: { dnx: { command: 'dnx', before: [], after: ['--yes', '--'] } },
    reference: (identifier, version) => (version === undefined ? identifier : `${identifier}@${version}`),
  },
}

/** A package that was checked: the program that runs it, and how the program names it. */
export interface CheckedPackage {
  readonly runtime: Runtime
  readonly reference: string
}

const versionGrammar = /^[A-Za-z0-9][A-Za-z0-9._+!-]*$/

/**
 * Throws Failure `not_installable` for a package that cannot be run by a public registry's name. `any`: for images the
 * caller checks the host by a list of its own.
 */
export function checkPackage(
  stated: Package,
  pointer: string,
  imageHosts: 'public' | 'any' = 'public',
): CheckedPackage {
  const { registry_type, identifier, version, registry_base_url: base, runtime_hint } = stated
  const type = registry_type.toLowerCase()
  const kind = Object.hasOwn(kinds, type) ? kinds[type] : undefined
  if (!kind) throw unknownKind(type, pointer)
  if (!kind.identifier.test(identifier) || identifier.length > 300) {
    throw refuse(`${pointer}/identifier`, `This is not the name of a package of ${type}.`, askPublisher)
  }
  if (version !== undefined && !versionGrammar.test(version)) {
    throw refuse(`${pointer}/version`, 'This is not one version.', askPublisher)
  }
  if (type !== 'oci' || imageHosts === 'public') checkRegistry(type, kind, stated, pointer)
  const hint = runtime_hint?.trim().toLowerCase() ?? ''
  const [first] = Object.values(kind.runtimes)
  const runtime = (Object.hasOwn(kind.runtimes, hint) ? kind.runtimes[hint] : undefined) ?? first
  if (!runtime) throw unknownKind(type, pointer)
  return { runtime, reference: kind.reference(identifier, version, base) }
}

function unknownKind(type: string, pointer: string): Error {
  if (type === 'cargo') {
    return refuse(
      `${pointer}/registry_type`,
      'No program runs a crate without installing it.',
      'Install it with cargo install, and give its program to your host.',
    )
  }
  return refuse(
    `${pointer}/registry_type`,
    `No command is known for packages of ${JSON.stringify(type.slice(0, 40))}.`,
    'Packages of npm, pypi, oci, nuget and mcpb can be installed.',
  )
}

function checkRegistry(type: string, kind: PackageKind, stated: Package, pointer: string): void {
  const { registry_base_url: base, identifier } = stated
  const at = `${pointer}/registry_base_url`
  if (type === 'oci') {
    const image = hostOfImage(identifier)
    if (base !== undefined && !isImageRegistry(base)) throw foreignRegistry(base, at)
    if (image !== undefined && !imageHosts.test(image)) throw foreignRegistry(image, `${pointer}/identifier`)
  } else if (base !== undefined && !kind.registries.includes(base.trim().replace(/\/+$/, ''))) {
    throw foreignRegistry(base, at)
  }
}

/** The refusal of a package elsewhere than in a public registry: whoever runs that could give anything. */
export function foreignRegistry(base: string, pointer: string): Error {
  return refuse(
    pointer,
    `${JSON.stringify(base.slice(0, 200))} is not one of the public package registries, so no command is given.`,
    'Install it by hand, if you trust that registry.',
  )
}

function isImageRegistry(base: string): boolean {
  if (!URL.canParse(base)) return false
  const { protocol, host, pathname, username } = new URL(base)
  const isRoot = pathname === '/' && username === '' && protocol === 'https:'
  return isRoot && (imageHosts.test(host) || dockerHub.test(host))
}

/** The host in the name of an image: its first part, if that is no part of a path. */
function hostOfImage(identifier: string): string | undefined {
  const [first = '', ...rest] = identifier.split('/')
  return rest.length > 0 && /[.:]|^localhost$/.test(first) ? first : undefined
}

function imageReference(identifier: string, version: string | undefined, base: string | undefined): string {
  const host = base === undefined ? undefined : URL.parse(base)?.host
  const isBare = hostOfImage(identifier) === undefined
  const image = isBare && host !== undefined && !dockerHub.test(host) ? `${host}/${identifier}` : identifier
  const last = image.slice(image.lastIndexOf('/') + 1)
  return version === undefined || /[:@]/.test(last) ? image : `${image}:${version}`
}
