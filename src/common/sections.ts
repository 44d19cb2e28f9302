import { closeSync, openSync, readSync } from 'node:fs'
import { crc32 } from 'node:zlib'

/** The parts of a snapshot by name. */
export type Parts = Readonly<Record<string, string | Uint8Array | Uint32Array | Float64Array>>

/** Reads the parts of a snapshot. Each method throws if the part is missing or damaged. */
export interface Sections {
  text(name: string): string
  integers(name: string): Uint32Array
  doubles(name: string): Float64Array
  /** Bytes of a part. */
  length(name: string): number
  /** Reads a part into bytes of its length, which may be shared memory. */
  fill(name: string, target: Uint8Array): void
}

/** Offset of a part behind the header, its bytes and their checksum (CRC-32). */
type PartRange = readonly [offset: number, length: number, checksum: number]

const magic = 0x44524732
const prefixBytes = 16
const alignment = 8

/** Packs parts one after another, behind a header with their offsets. */
export function packSections(parts: Parts): Uint8Array {
  const contents = Object.entries(parts).map(([name, part]) => [name, bytesOf(part)] as const)
  const ranges: Record<string, PartRange> = {}
  let end = 0
  for (const [name, content] of contents) {
    ranges[name] = [end, content.length, checksumOf(content)]
    end = aligned(end + content.length)
  }
  const header = new TextEncoder().encode(JSON.stringify(ranges))
  const start = aligned(prefixBytes + header.length)
  const packed = new Uint8Array(start + end)
  const prefix = new DataView(packed.buffer)
  prefix.setUint32(0, magic)
  prefix.setUint32(4, crc32(header))
  prefix.setUint32(8, header.length)
  packed.set(header, prefixBytes)
  for (const [name, content] of contents) packed.set(content, start + (ranges[name]?.[0] ?? 0))
  return packed
}

/** Opens the parts in the file at `path`; each is read on demand. Throws if the file is not a snapshot. */
export function openSections(path: string): Sections {
  const prefix = new DataView(new ArrayBuffer(prefixBytes))
  read(path, 0, new Uint8Array(prefix.buffer))
  if (prefix.getUint32(0) !== magic) throw new Error(`${path} is not a snapshot of this version.`)
  const header = new Uint8Array(prefix.getUint32(8))
  read(path, prefixBytes, header)
  if (crc32(header) !== prefix.getUint32(4)) throw new Error(`${path} is damaged.`)
  const ranges = JSON.parse(new TextDecoder().decode(header)) as Record<string, PartRange>
  const start = aligned(prefixBytes + header.length)

  function rangeOf(name: string): PartRange {
    const range = ranges[name]
    if (!range) throw new Error(`${path} has no part ${name}.`)
    return range
  }

  function fill(name: string, target: Uint8Array): void {
    const [offset, , checksum] = rangeOf(name)
    read(path, start + offset, target)
    if (checksumOf(target) !== checksum) throw new Error(`${path} is damaged in its part ${name}.`)
  }

  function bufferOf(name: string): ArrayBuffer {
    const buffer = new ArrayBuffer(rangeOf(name)[1])
    fill(name, new Uint8Array(buffer))
    return buffer
  }
  return {
    text: (name) => new TextDecoder().decode(bufferOf(name)),
    integers: (name) => new Uint32Array(bufferOf(name)),
    doubles: (name) => new Float64Array(bufferOf(name)),
    length: (name) => rangeOf(name)[1],
    fill,
  }
}

/** Synchronous: the start waits for it, and asynchronous reads would take ten times as long. */
function read(path: string, position: number, target: Uint8Array): void {
  const file = openSync(path, 'r')
  try {
    for (let done = 0; done < target.length; ) {
      const size = Math.min(target.length - done, maxChunk)
      const count = readSync(file, target, done, size, position + done)
      if (count === 0) throw new Error(`${path} is cut off.`)
      done += count
    }
  } finally {
    closeSync(file)
  }
}

/** Bytes that Node.js reads, and zlib sums, in one call: both count them in 32 bits. */
const maxChunk = 2 ** 30

function checksumOf(content: Uint8Array): number {
  let sum = 0
  for (let at = 0; at < content.length; at += maxChunk) sum = crc32(content.subarray(at, at + maxChunk), sum)
  return sum
}

function bytesOf(part: Parts[string]): Uint8Array {
  if (typeof part === 'string') return new TextEncoder().encode(part)
  return new Uint8Array(part.buffer, part.byteOffset, part.byteLength)
}

function aligned(length: number): number {
  return Math.ceil(length / alignment) * alignment
}
