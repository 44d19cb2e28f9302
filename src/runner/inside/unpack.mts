/**
 * Runs in the sandbox: reads a ZIP archive, which may be hostile.
 *
 *     node unpack.mjs ARCHIVE            prints its manifest.json
 *     node unpack.mjs ARCHIVE FOLDER     unpacks it into FOLDER
 */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { crc32, inflateRawSync } from 'node:zlib'

const maxEntries = 50_000
const maxBytes = 1024 ** 3
const maxManifestBytes = 1024 ** 2
const maxNameBytes = 1024
/** The end of a central directory with the longest comment, and a signature of the bundle after it. */
const maxEndBytes = 128 * 1024

interface Entry {
  readonly name: string
  readonly isFolder: boolean
  readonly isExecutable: boolean
  readonly method: number
  readonly crc: number
  readonly packed: number
  readonly size: number
  readonly offset: number
}

const [archive = '', folder] = process.argv.slice(2)
try {
  const bytes = readFileSync(archive)
  const entries = entriesOf(bytes)
  process.stdout.write(folder === undefined ? manifestOf(bytes, entries) : unpack(bytes, entries, folder))
} catch (thrown) {
  process.stderr.write(`${(thrown as Error).message}\n`)
  process.exitCode = 1
}

function manifestOf(bytes: Buffer, entries: readonly Entry[]): string {
  const manifest = entries.find(({ name }) => name === 'manifest.json')
  if (!manifest) throw new Error('It has no manifest.json.')
  if (manifest.size > maxManifestBytes) throw new Error('Its manifest.json is larger than 1 MiB.')
  return contentOf(bytes, manifest).toString('utf8')
}

function unpack(bytes: Buffer, entries: readonly Entry[], folder: string): string {
  let total = 0
  for (const entry of entries) total += entry.size
  if (total > maxBytes) throw new Error('Its files are larger than 1 GiB.')
  for (const entry of entries) {
    const path = join(folder, entry.name)
    mkdirSync(entry.isFolder ? path : dirname(path), { recursive: true, mode: 0o755 })
    if (entry.isFolder) continue
    // `wx`: a file that stands in the archive twice is refused.
    writeFileSync(path, contentOf(bytes, entry), { flag: 'wx' })
    chmodSync(path, entry.isExecutable ? 0o755 : 0o644)
  }
  return `${entries.length}`
}

function entriesOf(bytes: Buffer): Entry[] {
  const end = bytes.lastIndexOf('PK\x05\x06', undefined, 'latin1')
  if (end === -1 || end + 22 > bytes.length || bytes.length - end > maxEndBytes) {
    throw new Error('It is not a ZIP archive.')
  }
  const count = bytes.readUInt16LE(end + 10)
  const start = bytes.readUInt32LE(end + 16)
  if (count > maxEntries || count === 0xffff || start === 0xffffffff) {
    throw new Error(`It has more than ${maxEntries} files, or is a ZIP64 archive.`)
  }
  const entries: Entry[] = []
  for (let at = start; entries.length < count; ) {
    if (at + 46 > end || bytes.readUInt32LE(at) !== 0x02014b50) throw new Error('Its directory is damaged.')
    const [name, extra, comment] = [28, 30, 32].map((field) => bytes.readUInt16LE(at + field)) as [
      number,
      number,
      number,
    ]
    entries.push(entryAt(bytes, at, bytes.subarray(at + 46, at + 46 + name)))
    at += 46 + name + extra + comment
  }
  return entries
}

function entryAt(bytes: Buffer, at: number, nameBytes: Buffer): Entry {
  const name = nameBytes.toString('utf8')
  const flags = bytes.readUInt16LE(at + 8)
  const isUnix = bytes.readUInt16LE(at + 4) >> 8 === 3
  const mode = isUnix ? bytes.readUInt32LE(at + 38) >>> 16 : 0
  const kind = mode & 0o170000
  const shown = JSON.stringify(name.slice(0, 100))
  if (nameBytes.length > maxNameBytes || !isSafe(name)) throw new Error(`It names the path ${shown}.`)
  if (kind !== 0 && kind !== 0o100000 && kind !== 0o040000) throw new Error(`${shown} is a link or a device.`)
  if (flags & 1) throw new Error(`${shown} is encrypted.`)
  return {
    name,
    isFolder: name.endsWith('/'),
    isExecutable: (mode & 0o111) !== 0,
    method: bytes.readUInt16LE(at + 10),
    crc: bytes.readUInt32LE(at + 16),
    packed: bytes.readUInt32LE(at + 20),
    size: bytes.readUInt32LE(at + 24),
    offset: bytes.readUInt32LE(at + 42),
  }
}

/** A path below the folder, with one reading on every system. */
function isSafe(name: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused
  if (/[\u0000-\u001f\\:]/.test(name)) return false
  const parts = name.replace(/\/$/, '').split('/')
  return parts.length <= 64 && parts.every((part) => part !== '' && part !== '.' && part !== '..')
}

function contentOf(bytes: Buffer, { name, method, crc, packed, size, offset }: Entry): Buffer {
  const broken = new Error(`The file ${JSON.stringify(name.slice(0, 100))} is damaged.`)
  if (offset + 30 > bytes.length || bytes.readUInt32LE(offset) !== 0x04034b50) throw broken
  const start = offset + 30 + bytes.readUInt16LE(offset + 26) + bytes.readUInt16LE(offset + 28)
  const data = bytes.subarray(start, start + packed)
  if (data.length !== packed || (method !== 0 && method !== 8)) throw broken
  // One byte more than is stated shows a bomb.
  const content = method === 0 ? data : inflateRawSync(data, { maxOutputLength: size + 1 })
  if (content.length !== size || crc32(content) !== crc) throw broken
  return content
}
