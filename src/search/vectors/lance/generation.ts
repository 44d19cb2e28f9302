import type { Connection, Table } from '@lancedb/lancedb'
import type { AttributeFilter } from '../attributes.ts'
import type { VectorEntry } from '../vector-store.ts'
import { DamageError } from './damage-error.ts'
import { FileChecksums } from './file-checksums.ts'
import { renderFilter, renderIds } from './filter.ts'
import type { LanceLibrary } from './library.ts'
import type { RowSource } from './nearest.ts'
import { nameColumns, named, revisionKey, rowColumns, schemaOf, toTable, verifySums, whole } from './rows.ts'

export interface GenerationOptions {
  readonly dimensions: number
  /** Above this number of bytes, only the sizes of files are verified at the start. */
  readonly checked_bytes: number
  /** Size of LanceDB's caches in bytes. */
  readonly index_cache: number
  readonly metadata_cache: number
  /** Minimum time for which replaced files are kept for their readers, in this process and others. */
  readonly grace_ms: number
}

/** The rows after one commit. */
interface Snapshot {
  readonly table: Table
  readonly version: number
  readonly revision: number
}

const tableName = 'vectors'
/** Maximum ids in one condition. */
const idsAtOnce = 1000

/** A LanceDB table in its own folder, with the checksums of its files. */
export class Generation {
  readonly sums: FileChecksums
  snapshot: Snapshot
  readonly #library: LanceLibrary
  readonly #connection: Connection
  readonly #options: GenerationOptions

  private constructor(
    library: LanceLibrary,
    connection: Connection,
    options: GenerationOptions,
    sums: FileChecksums,
    snapshot: Snapshot,
  ) {
    this.#library = library
    this.#connection = connection
    this.#options = options
    this.sums = sums
    this.snapshot = snapshot
  }

  /** Creates a generation without entries, at revision 0. */
  static async create(
    library: LanceLibrary,
    folder: string,
    options: GenerationOptions,
  ): Promise<Generation> {
    const { dimensions } = options
    const connection = await connect(library, folder, options)
    const schema = schemaOf(library, dimensions)
    const table = await connection.createEmptyTable(tableName, schema)
    // Makes concurrent inserts of one row a conflict; concurrent writes of the revision's row already are
    // one.
    await table.setUnenforcedPrimaryKey('key')
    await table.add(toTable(library, schema, dimensions, [], 0))
    const sums = await FileChecksums.start(folder)
    return new Generation(library, connection, options, sums, await snapshotOf(connection))
  }

  /** Throws if anything differs from what was written. */
  static async open(library: LanceLibrary, folder: string, options: GenerationOptions): Promise<Generation> {
    const sums = await FileChecksums.verified(folder, options.checked_bytes)
    const connection = await connect(library, folder, options)
    const generation = new Generation(library, connection, options, sums, await snapshotOf(connection))
    await generation.#probe()
    if (sums.hasUnsealedFiles) await generation.#verifyRows()
    return generation
  }

  async #probe(): Promise<void> {
    const { table } = this.snapshot
    const { dimensions } = this.#options
    const expected = schemaOf(this.#library, dimensions).fields.map(String).join()
    if ((await table.schema()).fields.map(String).join() !== expected)
      throw new DamageError('The table has other columns.')
    // Reads from every file of rows and of deletions; throws if a file is missing.
    for await (const _ of table.query().select(['key']));
    const vector = new Float32Array(dimensions).fill(1)
    await this.#source(table, vector, {}).top(1)
  }

  /** Verifies files without a checksum by the checksums of their rows. */
  async #verifyRows(): Promise<void> {
    for await (const batch of this.snapshot.table.query()) verifySums(batch)
    await this.sums.seal()
  }

  /** The rows of the current snapshot that meet the filter. */
  source(vector: Float32Array, filter: AttributeFilter): RowSource {
    return this.#source(this.snapshot.table, vector, filter)
  }

  #source(table: Table, vector: Float32Array, filter: AttributeFilter): RowSource {
    const condition = renderFilter(filter)
    return {
      async top(depth) {
        const search = table.vectorSearch(vector).distanceType('dot').bypassVectorIndex()
        if (condition !== undefined) search.where(condition)
        const { batches } = await search
          .select([...rowColumns, '_distance'])
          .limit(depth)
          .toArrow()
        let count = 0
        let farthest = 0
        for (const batch of batches) {
          count += batch.numRows
          farthest = batch.getChild('_distance')?.get(batch.numRows - 1) ?? farthest
        }
        return { rows: whole(batches), others: count < depth ? null : 1 - farthest }
      },
      async rowsOf(ids) {
        const batches = []
        for (let at = 0; at < ids.length; at += idsAtOnce) {
          const idCondition = renderIds(ids.slice(at, at + idsAtOnce))
          batches.push(...(await table.query().where(idCondition).select(rowColumns).toArrow()).batches)
        }
        return whole(batches)
      },
      async names() {
        const query = table.query()
        if (condition !== undefined) query.where(condition)
        return named((await query.select(nameColumns).toArrow()).batches)
      },
    }
  }

  /** Takes the latest snapshot that any process has committed. */
  async refresh(): Promise<void> {
    this.snapshot = await snapshotOf(this.#connection, this.snapshot)
  }

  /** Replaces these entries in one commit, and sets the revision of the rows. */
  async write(entries: ReadonlyMap<string, VectorEntry | null>, revision: number): Promise<void> {
    const { dimensions } = this.#options
    // A commit on top of a damaged version would make it look valid.
    await this.sums.verifyUntouched()
    const table = await this.#connection.openTable(tableName)
    const present = [...entries].flatMap(([id, entry]) => (entry ? [[id, entry] as const] : []))
    const schema = schemaOf(this.#library, dimensions)
    const rows = toTable(this.#library, schema, dimensions, present, revision)
    const merge = table.mergeInsert('key').whenMatchedUpdateAll().whenNotMatchedInsertAll()
    const ids = [...entries.keys()]
    const full = ids.length > 0 ? merge.whenNotMatchedBySourceDelete({ where: renderIds(ids) }) : merge
    await full.execute(rows)
    this.snapshot = await snapshotOf(this.#connection)
    await this.sums.seal()
  }

  /** Compacts many small files into few large ones. */
  async optimize(): Promise<void> {
    await this.sums.verifyUntouched()
    const table = await this.#connection.openTable(tableName)
    await table.optimize({ cleanupOlderThan: new Date(Date.now() - this.#options.grace_ms) })
    await this.refresh()
    await this.sums.seal()
  }

  close(): void {
    this.snapshot.table.close()
    this.#connection.close()
  }
}

async function connect(
  library: LanceLibrary,
  folder: string,
  options: GenerationOptions,
): Promise<Connection> {
  const { Session, connect } = library.lance
  const session = new Session(BigInt(options.index_cache), BigInt(options.metadata_cache))
  // Without a readConsistencyInterval a table stays at the version at which it was opened, so that no query
  // sees half a change; every refresh opens it again.
  return connect(folder, {}, session)
}

/** The latest version, or `previous` if it is the latest. A replaced version may be removed while it is read. */
async function snapshotOf(connection: Connection, previous?: Snapshot, attempts = 5): Promise<Snapshot> {
  try {
    const table = await connection.openTable(tableName)
    const version = await table.version()
    if (version === previous?.version) return previous
    const batches = await table.query().where(`key = '${revisionKey}'`).select(['revision']).toArrow()
    const revision: unknown = batches.numRows === 1 ? batches.getChild('revision')?.get(0) : undefined
    if (typeof revision === 'number') return { table, version, revision }
  } catch (fault) {
    if (attempts === 1) throw fault
    return snapshotOf(connection, previous, attempts - 1)
  }
  throw new DamageError('The table does not say its revision.')
}
