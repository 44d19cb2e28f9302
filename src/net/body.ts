import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { Failure } from '../../schemas/failure.ts'

const decoders = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['br', createBrotliDecompress],
  ['deflate', createInflate],
])

/**
 * Reads a body to its end, undoing at most one content coding (RFC 9110, 8.4). Stops at `max_bytes` of
 * decompressed text, so a bomb costs no more than that. Throws Failure `upstream_invalid` for a coding
 * that was not asked for or stacked codings, and `too_large`; errors of the stream pass through.
 */
export async function readBody(
  body: Readable,
  headers: Readonly<Record<string, string>>,
  max_bytes: number,
): Promise<Uint8Array> {
  if (Number(headers['content-length'] ?? 0) > max_bytes) throw tooLarge(max_bytes)
  const coding = headers['content-encoding']?.trim().toLowerCase() || 'identity'
  if (coding === 'identity' || headers['content-length'] === '0') return collect(body, max_bytes)
  const create = decoders.get(coding)
  if (!create) {
    throw new Failure('upstream_invalid', `The content coding ${coding.slice(0, 60)} is not accepted.`)
  }
  let bytes = new Uint8Array()
  await pipeline(body, create(), async (source: AsyncIterable<Uint8Array>) => {
    bytes = await collect(source, max_bytes)
  })
  return bytes
}

async function collect(
  source: AsyncIterable<Uint8Array>,
  max_bytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of source) {
    length += chunk.length
    if (length > max_bytes) throw tooLarge(max_bytes)
    chunks.push(chunk)
  }
  const bytes = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}

function tooLarge(max_bytes: number): Failure {
  return new Failure('too_large', `The answer is larger than ${max_bytes} bytes.`)
}
