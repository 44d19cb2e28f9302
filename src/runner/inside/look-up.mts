/**
 * Runs in the sandbox: asks a registry for one version of a package and prints what the runner needs of the answer,
 * which may be large and is the registry's own.
 *
 *     node look-up.mjs npm|pypi BASE-ADDRESS NAME VERSION
 */

interface NpmManifest {
  readonly dist?: { readonly integrity?: string; readonly shasum?: string }
  readonly engines?: { readonly node?: string }
  readonly deprecated?: string | boolean
}

interface Packument {
  readonly 'dist-tags'?: Readonly<Record<string, string>>
  readonly versions?: Readonly<Record<string, NpmManifest>>
  readonly time?: Readonly<Record<string, string>>
}

/** The simple API of PyPI as JSON (PEP 691, PEP 700). */
interface Project {
  readonly versions?: readonly string[]
  readonly files?: readonly ProjectFile[]
}

interface ProjectFile {
  readonly filename: string
  readonly hashes?: { readonly sha256?: string }
  readonly 'requires-python'?: string | null
  readonly yanked?: string | boolean
  readonly 'upload-time'?: string
}

const [kind, base = '', name = '', version = ''] = process.argv.slice(2)
try {
  const result = kind === 'npm' ? await lookUpNpm() : await lookUpPypi()
  process.stdout.write(JSON.stringify(result))
} catch (thrown) {
  const { message, cause } = thrown as Error
  const reason = cause instanceof Error ? `${message}: ${cause.message}` : message
  process.stdout.write(JSON.stringify({ failed: reason }))
}

async function lookUpNpm() {
  const packument = await get<Packument>(`${base}/${name.replace('/', '%2f')}`, 'application/json')
  if (!packument) return { missing: 'package' }
  const exact = Object.hasOwn(packument['dist-tags'] ?? {}, version)
    ? packument['dist-tags']?.[version]
    : version
  const manifest =
    exact !== undefined && Object.hasOwn(packument.versions ?? {}, exact)
      ? packument.versions?.[exact]
      : undefined
  if (exact === undefined || !manifest) {
    const removed = packument.time !== undefined && Object.hasOwn(packument.time, version)
    return {
      missing: 'version',
      removed,
      newest: packument['dist-tags']?.latest ?? null,
      versions: Object.keys(packument.versions ?? {}),
    }
  }
  const { dist = {}, engines, deprecated } = manifest
  return {
    version: exact,
    integrity:
      dist.integrity ?? (dist.shasum && `sha1-${Buffer.from(dist.shasum, 'hex').toString('base64')}`),
    published_at: packument.time?.[exact] ?? null,
    node: engines?.node ?? null,
    warning:
      typeof deprecated === 'string' && deprecated !== '' ? `Deprecated: ${deprecated.slice(0, 500)}` : null,
  }
}

async function lookUpPypi() {
  const project = await get<Project>(`${base}/${name}/`, 'application/vnd.pypi.simple.v1+json')
  if (!project) return { missing: 'package' }
  return {
    files: (project.files ?? []).map(({ filename, hashes, yanked, ...file }) => ({
      filename,
      sha256: hashes?.sha256 ?? null,
      python: file['requires-python'] ?? null,
      yanked: yanked ?? false,
      uploaded_at: file['upload-time'] ?? null,
    })),
  }
}

/** undefined: the registry has no such package. */
async function get<T>(url: string, accept: string): Promise<T | undefined> {
  const response = await fetch(url, { headers: { accept } })
  if (response.status === 404) return undefined
  if (!response.ok) throw new Error(`${new URL(url).host} answered ${response.status}`)
  const type = response.headers.get('content-type') ?? ''
  if (!type.includes('json'))
    throw new Error(`${new URL(url).host} answered ${type.slice(0, 100)} instead of JSON`)
  return (await response.json()) as T
}
