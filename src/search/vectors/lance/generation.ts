import type { Connection, Table, VectorQuery } from '@lancedb/lancedb'
import { LRUCache } from 'lru-cache'
import { compareAscii } from '../../../common/compare.ts'
import { upTo } from '../../../common/lru.ts'
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
  /** Up to this number of rows, every search compares all of them; above, an index chooses the rows. */
  readonly exact_rows: number
  /** Minimum time for which replaced files are kept for their readers, in this process and others. */
  readonly grace_ms: number
}

/** The rows after one commit. */
interface Snapshot {
  readonly table: Table
  readonly version: number
  readonly revision: number
  readonly rows: number
  /** The name of the index of the vectors, if there is one. */
  readonly index: string | undefined
  /** The numbers of rows that meet a condition. */
  readonly counts: LRUCache<string, Promise<number>>
}

const tableName = 'vectors'
const indexPrefix = 'nearest_'
/** Partitions that a search without a filter reads, of as many as the root of the number of rows. */
const probes = 40
/** If a smaller share of the rows meets a filter, the search compares all of them: they are in too many partitions. */
const narrowShare = 0.1
/** The index is trained anew for this multiple of the rows that it was trained for. */
const growth = 4
const countedConditions = 100
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
    // Reads from every file of rows, of deletions and of indices; throws if a file is missing.
    let id = ''
    for await (const batch of table.query().select(['id'])) {
      const ids = batch.getChild('id')
      id ||= ids?.get(0) || ids?.get(batch.numRows - 1)
    }
    await table
      .query()
      .where(renderIds([id]))
      .select(['id'])
      .toArrow()
    const vector = new Float32Array(dimensions).fill(1)
    await nearestRows(table.vectorSearch(vector).bypassVectorIndex(), 1, undefined)
    if (this.snapshot.index !== undefined) await nearestRows(indexed(table, vector, 1), 1, undefined)
  }

  /** Verifies files without a checksum by the checksums of their rows. */
  async #verifyRows(): Promise<void> {
    for await (const batch of this.snapshot.table.query()) verifySums(batch)
    await this.sums.seal()
  }

  /** The rows of the current snapshot that meet the filter. */
  source(vector: Float32Array, filter: AttributeFilter): RowSource {
    const { snapshot } = this
    const { table } = snapshot
    const condition = renderFilter(filter)
    return {
      async top(depth) {
        const share = snapshot.index === undefined ? 0 : await shareOf(snapshot, condition)
        if (share >= narrowShare) {
          const found = await nearestRows(indexed(table, vector, probes / share), depth, condition)
          // Other partitions may have more.
          if (found.others !== null) return found
        }
        const all = table.vectorSearch(vector).distanceType('dot').bypassVectorIndex()
        return nearestRows(all, depth, condition)
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

  /** Compacts many small files into few large ones, and adds new rows to the index. */
  async optimize(): Promise<void> {
    await this.sums.verifyUntouched()
    const table = await this.#connection.openTable(tableName)
    await this.#train(table)
    await table.optimize({ cleanupOlderThan: new Date(Date.now() - this.#options.grace_ms) })
    await this.refresh()
    await this.sums.seal()
  }

  /**
   * Indexes the ids and the vectors, unless there are few. The name of the index of the vectors says how many it was
   * trained for.
   */
  async #train(table: Table): Promise<void> {
    const rows = await table.countRows()
    if (rows <= this.#options.exact_rows) return
    const { Index } = this.#library.lance
    const columns = (await table.listIndices()).flatMap((index) => index.columns)
    if (!columns.includes('id')) await table.createIndex('id', { config: Index.btree() })
    const before = await indexOf(table)
    if (before && rows < growth * Number(before.slice(indexPrefix.length))) return
    const config = Index.ivfFlat({ distanceType: 'cosine', numPartitions: Math.ceil(Math.sqrt(rows)) })
    await table.createIndex('vector', { config, name: `${indexPrefix}${rows}` })
    if (before) await table.dropIndex(before)
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
    if (typeof revision === 'number') {
      const [rows, index] = [await table.countRows(), await indexOf(table)]
      return { table, version, revision, rows, index, counts: new LRUCache(upTo(countedConditions)) }
    }
  } catch (fault) {
    if (attempts === 1) throw fault
    return snapshotOf(connection, previous, attempts - 1)
  }
  throw new DamageError('The table does not say its revision.')
}

/** The name of the index that was trained for the most rows. */
async function indexOf(table: Table): Promise<string | undefined> {
  const names = (await table.listIndices()).map(({ name }) => name)
  return names
    .filter((name) => name.startsWith(indexPrefix))
    .sort(byRows)
    .at(-1)
}

function byRows(left: string, right: string): number {
  return left.length - right.length || compareAscii(left, right)
}

/** The share of the rows that meet the condition. */
async function shareOf({ table, rows, counts }: Snapshot, condition?: string): Promise<number> {
  if (condition === undefined) return 1
  const count = counts.get(condition) ?? table.countRows(condition)
  counts.set(condition, count)
  return (await count) / rows
}

/** By cosine: an HNSW index by `dot` found almost nothing in LanceDB 0.31. */
function indexed(table: Table, vector: Float32Array, partitions: number): VectorQuery {
  return table.vectorSearch(vector).distanceType('cosine').nprobes(Math.ceil(partitions))
}

/** The distance by `dot` and by `cosine` of unit vectors is 1 minus their cosine. */
async function nearestRows(
  search: VectorQuery,
  depth: number,
  condition: string | undefined,
): ReturnType<RowSource['top']> {
  if (condition !== undefined) search.where(condition)
  const columns = [...rowColumns, '_distance']
  const { batches } = await search.select(columns).limit(depth).toArrow()
  let count = 0
  let farthest = 0
  for (const batch of batches) {
    count += batch.numRows
    farthest = batch.getChild('_distance')?.get(batch.numRows - 1) ?? farthest
  }
  return { rows: whole(batches), others: count < depth ? null : 1 - farthest }
}
