import type { Kysely } from 'kysely'
import type { Embeddings } from './store.ts'
import type { Tables } from './tables.ts'

/** Parameters of one statement stay well below SQLite's limit. */
const slice = 400

/** Vectors as rows of little-endian 32-bit floats, in either dialect. */
export function createEmbeddings(reader: Kysely<Tables>, writer: Kysely<Tables>): Embeddings {
  return {
    async find(model, hashes) {
      const found = new Map<string, Float32Array>()
      for (let start = 0; start < hashes.length; start += slice) {
        const rows = await reader
          .selectFrom('embedding')
          .select(['content_hash', 'vector'])
          .where('model', '=', model)
          .where('content_hash', 'in', hashes.slice(start, start + slice))
          .execute()
        for (const row of rows) found.set(row.content_hash, toVector(row.vector))
      }
      return found
    },
    async keep(model, vectors) {
      const rows = [...vectors].map(([content_hash, vector]) => ({
        model,
        content_hash,
        vector: new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength),
      }))
      await writer.transaction().execute(async (transaction) => {
        for (const row of rows) {
          await transaction
            .insertInto('embedding')
            .values(row)
            .onConflict((conflict) => conflict.doNothing())
            .execute()
        }
      })
    },
    async count(model) {
      const { total } = await reader
        .selectFrom('embedding')
        .select((row) => row.fn.countAll<number>().as('total'))
        .where('model', '=', model)
        .executeTakeFirstOrThrow()
      return total
    },
  }
}

/** A copy, since floats must lie on a multiple of four bytes. */
function toVector(bytes: Uint8Array): Float32Array {
  return new Float32Array(Uint8Array.from(bytes).buffer)
}
