import { createHash } from 'node:crypto'
import { crc32, gzipSync } from 'node:zlib'
import { serve } from '../net/support.ts'

/** Files of a package by their paths. */
type Files = Readonly<Record<string, string>>

export interface NpmRelease {
  readonly name: string
  readonly version: string
  readonly files: Files
  /** Further fields of package.json. */
  readonly manifest?: Readonly<Record<string, unknown>>
  /** RFC 3339. */
  readonly published_at?: string
  readonly deprecated?: string
}

export interface WheelRelease {
  readonly name: string
  readonly version: string
  readonly files: Files
  readonly scripts?: Readonly<Record<string, string>>
  readonly requires?: readonly string[]
  readonly python?: string
  readonly yanked?: string
  readonly published_at?: string
  /** A source archive instead of a wheel. */
  readonly isSource?: boolean
}

/** A registry of npm and an index of PyPI on loopback, with the packages that a test publishes. */
export interface PackageRegistry extends AsyncDisposable {
  readonly npm: string
  readonly pypi: string
  publish(release: NpmRelease): void
  /** Takes a version away; the registry remembers its time. */
  unpublish(name: string, version: string): void
  publishWheel(release: WheelRelease): void
}

interface Packument {
  name: string
  'dist-tags': Record<string, string>
  versions: Record<string, unknown>
  time: Record<string, string>
}

const standardTime = '2025-01-01T00:00:00.000Z'

export async function startPackageRegistry(): Promise<PackageRegistry> {
  const packuments = new Map<string, Packument>()
  const projects = new Map<string, unknown[]>()
  const downloads = new Map<string, Buffer>()

  const server = await serve((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://registry').pathname)
    const download = downloads.get(path)
    if (download) return response.end(download)
    const files = projects.get(/^\/simple\/([^/]+)\/$/.exec(path)?.[1] ?? '')
    const found = files
      ? { meta: { 'api-version': '1.1' }, name: path.split('/')[2], versions: [], files }
      : packuments.get(path.slice(1))
    response.statusCode = found ? 200 : 404
    response.setHeader('content-type', files ? 'application/vnd.pypi.simple.v1+json' : 'application/json')
    response.end(JSON.stringify(found ?? { error: 'Not found' }))
  })
  const base = server.origin

  return {
    npm: base,
    pypi: `${base}/simple`,
    publish({ name, version, files, manifest = {}, published_at = standardTime, deprecated }) {
      const described = { name, version, ...manifest }
      const tarball = tar({ 'package.json': JSON.stringify(described), ...files }, 'package')
      const path = `/files/${name}/${version}.tgz`
      downloads.set(path, tarball)
      const packument = packuments.get(name) ?? { name, 'dist-tags': {}, versions: {}, time: {} }
      packuments.set(name, packument)
      const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`
      packument['dist-tags'].latest = version
      packument.versions[version] = {
        ...described,
        ...(deprecated && { deprecated }),
        dist: { tarball: `${base}${path}`, integrity },
      }
      packument.time[version] = published_at
    },
    unpublish(name, version) {
      delete packuments.get(name)?.versions[version]
    },
    publishWheel(release) {
      const { name, version, python, yanked, published_at = standardTime, isSource } = release
      const filename = isSource ? `${name}-${version}.tar.gz` : `${name}-${version}-py3-none-any.whl`
      const content = isSource ? tar(release.files, `${name}-${version}`) : wheel(release)
      downloads.set(`/files/${filename}`, content)
      const file = {
        filename,
        url: `${base}/files/${filename}`,
        hashes: { sha256: createHash('sha256').update(content).digest('hex') },
        size: content.length,
        'upload-time': published_at,
        ...(python && { 'requires-python': python }),
        yanked: yanked ?? false,
      }
      const project = name.replaceAll('_', '-')
      const others = (projects.get(project) ?? []).filter(
        (other) => (other as { filename: string }).filename !== filename,
      )
      projects.set(project, [...others, file])
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

function tar(files: Files, root: string): Buffer {
  const blocks = Object.entries(files).flatMap(([path, text]) => {
    const content = Buffer.from(text)
    const header = Buffer.alloc(512)
    header.write(`${root}/${path}`)
    const octal = (value: number, length: number) => value.toString(8).padStart(length - 1, '0')
    header.write(octal(0o755, 8), 100)
    header.write(octal(content.length, 12), 124)
    header.write(octal(0, 12), 136)
    header.write('        0', 148)
    header.write('ustar\0', 257)
    header.write('00', 263)
    header.write(
      octal(
        header.reduce((sum, byte) => sum + byte, 0),
        8,
      ),
      148,
    )
    return [header, content, Buffer.alloc((512 - (content.length % 512)) % 512)]
  })
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]))
}

function wheel({ name, version, files, scripts = {}, requires = [], python }: WheelRelease): Buffer {
  const info = `${name}-${version}.dist-info`
  const metadata = [
    'Metadata-Version: 2.1',
    `Name: ${name}`,
    `Version: ${version}`,
    ...(python ? [`Requires-Python: ${python}`] : []),
    ...requires.map((requirement) => `Requires-Dist: ${requirement}`),
  ]
  const lines = Object.entries(scripts).map(([script, target]) => `${script} = ${target}`)
  const all: Record<string, string> = {
    ...files,
    [`${info}/METADATA`]: `${metadata.join('\n')}\n`,
    [`${info}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    [`${info}/entry_points.txt`]: `[console_scripts]\n${lines.join('\n')}\n`,
  }
  const record = [...Object.keys(all), `${info}/RECORD`].map((path) => `${path},,`).join('\n')
  return zip({ ...all, [`${info}/RECORD`]: `${record}\n` })
}

/** A ZIP archive without compression. `modes`: Unix modes by path, of a link for example. */
export function zip(files: Files, modes: Readonly<Record<string, number>> = {}): Buffer {
  const locals: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [path, text] of Object.entries(files)) {
    const name = Buffer.from(path)
    const content = Buffer.from(text)
    const sizes = Buffer.alloc(26)
    sizes.writeUInt16LE(20, 0)
    sizes.writeUInt16LE(0x21, 8) // 1 January 1980
    sizes.writeUInt32LE(crc32(content), 10)
    sizes.writeUInt32LE(content.length, 14)
    sizes.writeUInt32LE(content.length, 18)
    sizes.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), sizes, name, content])
    const place = Buffer.alloc(14)
    place.writeUInt32LE(((modes[path] ?? 0o100644) << 16) >>> 0, 6)
    place.writeUInt32LE(offset, 10)
    directory.push(Buffer.from('PK\x01\x02'), Buffer.from([20, 3]), sizes, place, name)
    locals.push(local)
    offset += local.length
  }
  const entries = Buffer.concat(directory)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(locals.length, 4)
  end.writeUInt16LE(locals.length, 6)
  end.writeUInt32LE(entries.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...locals, entries, Buffer.from('PK\x05\x06'), end])
}
