import { chunksOf } from '../../common/chunks.ts'
import type { Embeddings } from '../record-stores.ts'
import { type Database, maxRowsPerStatement } from '../sql/tables.ts'

/** Vectors as rows of little-endian 32-bit floats, in either dialect. */
export function createEmbeddings(reader: Database, writer: Database): Embeddings {
  return {
    async find(model, hashes) {
      const found = new Map<string, Float32Array>()
      for (const chunk of chunksOf(hashes, maxRowsPerStatement)) {
        const rows = await reader
          .selectFrom('embedding')
          .select(['content_hash', 'vector'])
          .where('model', '=', model)
          .where('content_hash', 'in', chunk)
          .execute()
        for (const row of rows) found.set(row.content_hash, toVector(row.vector))
      }
      return found
    },
    async keep(model, vectors) {
      // Every process writes in the same order, so that no two processes deadlock.
      const ordered = [...vectors].toSorted(([left], [right]) => (left < right ? -1 : 1))
      const rows = ordered.map(([content_hash, vector]) => ({
        model,
        content_hash,
        vector: new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength),
      }))
      for (const chunk of chunksOf(rows, maxRowsPerStatement)) {
        await writer
          .insertInto('embedding')
          .values(chunk)
          .onConflict((conflict) => conflict.doNothing())
          .execute()
      }
    },
    async exceed(model, count) {
      const next = await reader
        .selectFrom('embedding')
        .select('content_hash')
        .where('model', '=', model)
        .orderBy('content_hash')
        .limit(1)
        .offset(count)
        .executeTakeFirst()
      return next !== undefined
    },
  }
}

/** The floats are copied because they must be aligned to four bytes. */
function toVector(bytes: Uint8Array): Float32Array {
  return new Float32Array(Uint8Array.from(bytes).buffer)
}
