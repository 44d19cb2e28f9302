import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { Failure } from '../../../schemas/failure.ts'

const decoders = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['br', createBrotliDecompress],
  ['deflate', createInflate],
])

/**
 * Decodes a body with at most one content coding (RFC 9110, 8.4). Stops at `max_bytes` of decoded bytes, which bounds
 * a decompression bomb. Throws Failure `upstream_invalid` for an unknown coding or stacked codings, and `too_large`;
 * errors of the decoder pass through.
 */
export async function decoded(
  body: Uint8Array,
  headers: Readonly<Record<string, string>>,
  max_bytes: number,
): Promise<Uint8Array> {
  const coding = headers['content-encoding']?.trim().toLowerCase() || 'identity'
  if (coding === 'identity' || body.length === 0) return body
  const create = decoders.get(coding)
  if (!create) {
    throw new Failure('upstream_invalid', `The content coding ${coding.slice(0, 60)} is not accepted.`)
  }
  const chunks: Uint8Array[] = []
  let length = 0
  await pipeline(Readable.from([body]), create(), async (source: AsyncIterable<Uint8Array>) => {
    for await (const chunk of source) {
      length += chunk.length
      if (length > max_bytes) throw tooLarge(max_bytes)
      chunks.push(chunk)
    }
  })
  return Buffer.concat(chunks, length)
}

export function tooLarge(max_bytes: number): Failure {
  return new Failure('too_large', `The answer is larger than ${max_bytes} bytes.`)
}
