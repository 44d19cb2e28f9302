import { readdir, readFile } from 'node:fs/promises'
import { posix } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Picture, Rendered } from '../markdown.ts'
import { createDocSearch, type DocHit } from './search.ts'

/** One guide. */
export interface Doc extends Rendered {
  readonly name: string
  readonly path: string
}

/** The guides of the folder `docs/`, read and rendered when they are asked for. */
interface DocLibrary {
  /** Undefined if there is no guide of this name. */
  find(name: string): Promise<Doc | undefined>
  /** The guides of a folder, by name; empty if there is no such folder. */
  list(folder: string): Promise<readonly Doc[]>
  search(query: string): Promise<readonly DocHit[]>
  /** A picture of the guides, with its type. */
  picture(name: string): Promise<{ readonly bytes: Buffer; readonly type: string } | undefined>
}

const pictureTypes: Readonly<Record<string, string>> = { '.svg': 'image/svg+xml', '.png': 'image/png' }

export function createDocLibrary(folder: URL): DocLibrary {
  const docs = new Map<string, Promise<Doc>>()
  let index: Promise<ReturnType<typeof createDocSearch>> | undefined
  let files: Promise<readonly string[]> | undefined

  /** The paths of all files, which are fixed while the gateway runs. */
  function paths(): Promise<readonly string[]> {
    files ??= readdir(folder, { recursive: true }).then((all) =>
      all.map((path) => path.replaceAll('\\', '/')).sort(),
    )
    files.catch(() => {
      files = undefined
    })
    return files
  }

  async function names(): Promise<string[]> {
    return (await paths()).filter((path) => path.endsWith('.md')).map((path) => path.slice(0, -3))
  }

  async function find(name: string): Promise<Doc | undefined> {
    const file = renamed.get(name) ?? name
    if (!(await names()).includes(file)) return undefined
    const doc = docs.get(file) ?? render(file)
    docs.set(file, doc)
    doc.catch(() => docs.delete(file))
    return await doc
  }

  async function render(name: string): Promise<Doc> {
    // Nothing of the parser is loaded before somebody reads.
    const { renderMarkdown } = await import('../markdown.ts')
    const files = new Set(await paths())
    const text = await readFile(new URL(`${name}.md`, folder), 'utf8')
    const pictures = await sizes(text, name)
    const rendered = renderMarkdown(text, {
      linkTo: (address) => linkTo(address, name, files),
      pictureAt: (address) => pictures.get(address),
    })
    return { ...rendered, name, path: pathOf(name) }
  }

  async function sizes(text: string, name: string): Promise<Map<string, Picture>> {
    const found = new Map<string, Picture>()
    for (const [, address = ''] of text.matchAll(/!\[[^\]]*\]\(([^)\s]+)\)/g)) {
      const file = posix.join(posix.dirname(name), address)
      if (!file.startsWith('pictures/') || !(await paths()).includes(file)) continue
      const size = sizeOf(await readFile(new URL(file, folder)))
      if (size) found.set(address, { path: `/docs/${file}`, ...size })
    }
    return found
  }

  /** One after another, so that other requests are answered in between. */
  async function all(select: (name: string) => boolean = () => true): Promise<Doc[]> {
    const found: Doc[] = []
    for (const name of (await names()).filter(select)) {
      const doc = await find(name)
      if (doc) found.push(doc)
      await setImmediate()
    }
    return found
  }

  return {
    find,
    list: (inside) => all((name) => posix.dirname(name) === inside),
    async search(query) {
      index ??= all().then((found) => createDocSearch(found))
      index.catch(() => {
        index = undefined
      })
      return (await index)(query)
    },
    async picture(name) {
      const type = pictureTypes[posix.extname(name)]
      if (type === undefined || !(await paths()).includes(`pictures/${name}`)) return undefined
      return { bytes: await readFile(new URL(`pictures/${encodeURIComponent(name)}`, folder)), type }
    },
  }
}

/** Guides whose address is not their name: the `type` of problems links to the first. */
const renamed = new Map([
  ['errors', 'troubleshooting'],
  ['', 'README'],
])

/** The address of a guide by the name of its file. */
function pathOf(name: string): string {
  for (const [address, file] of renamed)
    if (file === name) return address === '' ? '/docs' : `/docs/${address}`
  return `/docs/${name}`
}

/** Web addresses, places of the same page, and guides. Other files of the repository are not here. */
function linkTo(address: string, from: string, files: ReadonlySet<string>): string | undefined {
  if (/^https?:\/\//i.test(address)) return address
  const [path = '', place] = address.split('#', 2)
  const fragment = place === undefined ? '' : `#${place}`
  if (/^[a-z][a-z0-9+.-]*:/i.test(path) || path.startsWith('/')) return undefined
  if (path === '') return fragment === '' ? undefined : fragment
  const target = posix.join(posix.dirname(from), path).replace(/\/$/, '')
  if (files.has(target) && target.endsWith('.md')) return `${pathOf(target.slice(0, -3))}${fragment}`
  return [...files].some((file) => file.startsWith(`${target}/`) && file.endsWith('.md'))
    ? `/docs/${target}`
    : undefined
}

/** The size of a PNG by its header, and of an SVG by its view box. */
function sizeOf(bytes: Buffer): { width: number; height: number } | undefined {
  if (bytes.subarray(1, 4).toString('latin1') === 'PNG') {
    return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
  }
  const box = /viewBox="[\d.]+ [\d.]+ ([\d.]+) ([\d.]+)"/.exec(bytes.subarray(0, 1000).toString('utf8'))
  return box ? { width: Number(box[1]), height: Number(box[2]) } : undefined
}
