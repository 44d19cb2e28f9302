import DataLoader from 'dataloader'
import type { Database, EntryTable } from '../../sql/tables.ts'
import type { Claim, DecisionReads } from '../../store.ts'
import { StoredEntry, UnreadableEntry } from '../../stored-entry.ts'
import { toActor } from '../audit.ts'
import { lookalikeKey } from '../confusables.ts'
import { displayKey } from '../display-names.ts'
import { type Counted, uncounted } from '../usage.ts'
import { digestFormat, storedDigest } from '../version-content.ts'
import type { PreviousEntry } from './commit.ts'

interface CachedDecisionReads extends DecisionReads {
  /** The stored entry with this id. */
  previous(id: string): Promise<PreviousEntry>
  /** What was counted for the entry with this id. */
  counted(id: string): Promise<Counted>
}

type Row = Pick<EntryTable, 'id' | 'package_name' | 'listed' | 'document' | 'skeleton'> & Counted

/** The column and the value by which rows are read. */
interface Key {
  readonly column: 'id' | 'package_name' | 'skeleton'
  readonly value: string
}

/** Keys in one statement. */
const maxBatchSize = 200

/**
 * The reads of decisions, within a transaction. Reads of one event-loop turn share a statement; with `cached` each read
 * is made once.
 */
export function createDecisionReads(db: Database, { cached }: { cached: boolean }): CachedDecisionReads {
  const options = { cache: cached, maxBatchSize }

  const rowsBy = rowLoader(db, options)
  const claimsOn = claimLoader(db, options)
  const digests = digestLoader(db, options)
  const namesakes = namesakeLoader(db, options)

  return {
    async entry(reference) {
      const [row] = await rowsBy.load(
        'id' in reference
          ? { column: 'id', value: reference.id }
          : { column: 'package_name', value: reference.package_name },
      )
      if (row && 'package_name' in reference) rowsBy.prime({ column: 'id', value: row.id }, [row])
      return row && parseEntry(row)
    },
    async claims(namespaces) {
      const claims = await Promise.all(namespaces.map((namespace) => claimsOn.load(namespace)))
      return distinct(claims.flat())
    },
    async lookalikes(packageName) {
      const rows = await rowsBy.load({ column: 'skeleton', value: lookalikeKey(packageName) })
      const others = rows.filter((row) => row.package_name !== packageName)
      return others.map(parseEntry).filter((entry) => !entry.deleted)
    },
    async verifiedNamesakes(name) {
      const rows = await namesakes.load(displayKey(name))
      return rows.map(parseEntry)
    },
    published: (entry_id, version) => digests.load({ entry_id, version }),
    async previous(id) {
      const [row] = await rowsBy.load({ column: 'id', value: id })
      if (!row) return { listed: false, counted: uncounted }
      const facts = { listed: row.listed === 1, counted: countedIn(row) }
      try {
        return { ...facts, entry: parseEntry(row) }
      } catch (fault) {
        if (fault instanceof UnreadableEntry) return facts
        throw fault
      }
    },
    async counted(id) {
      const [row] = await rowsBy.load({ column: 'id', value: id })
      return row ? countedIn(row) : uncounted
    },
  }
}

function countedIn({ account, staged, bytes }: Row): Counted {
  return { account, staged, bytes }
}

interface LoaderOptions {
  readonly cache: boolean
  readonly maxBatchSize: number
}

/** Loads the rows of entries by a column. */
function rowLoader(db: Database, options: LoaderOptions) {
  return new DataLoader(
    async (keys: readonly Key[]) => {
      const keysByColumn = Map.groupBy(keys, ({ column }) => column)
      const rows: Row[] = await db
        .selectFrom('entry')
        .select(['id', 'package_name', 'skeleton', 'listed', 'document', 'account', 'staged', 'bytes'])
        .where((row) =>
          row.or(
            [...keysByColumn].map(([column, columnKeys]) =>
              row(
                column,
                'in',
                columnKeys.map(({ value }) => value),
              ),
            ),
          ),
        )
        .execute()
      return keys.map(({ column, value }) => rows.filter((row) => row[column] === value))
    },
    { ...options, cacheKeyFn: ({ column, value }) => `${column} ${value}` },
  )
}

/** Loads the claims on namespaces. */
function claimLoader(db: Database, options: LoaderOptions) {
  return new DataLoader(async (namespaces: readonly string[]) => {
    const rows = await db
      .selectFrom('entry')
      .select(['owner', 'owner_namespace', 'proved_namespace'])
      .distinct()
      .where('owner', 'is not', null)
      .where((row) =>
        row.or([row('owner_namespace', 'in', namespaces), row('proved_namespace', 'in', namespaces)]),
      )
      .execute()
    const claims = Map.groupBy(rows.flatMap(claimsIn), (claim) => claim.namespace)
    return namespaces.map((namespace) => claims.get(namespace) ?? [])
  }, options)
}

/** Maximum number of verified entries of one display key that are read, the first by id. */
const maxNamesakes = 50

/** Loads the rows of verified entries by their display key. */
function namesakeLoader(db: Database, options: LoaderOptions) {
  return new DataLoader(async (keys: readonly string[]) => {
    const rows = await db
      .selectFrom('entry')
      .select(['id', 'document', 'display_key'])
      .where('display_key', 'in', keys)
      .where('proved_namespace', 'is not', null)
      .orderBy('id')
      .limit(maxNamesakes * keys.length)
      .execute()
    return keys.map((key) => rows.filter((row) => row.display_key === key))
  }, options)
}

/** Loads the digests of content that was published under a version. */
function digestLoader(db: Database, options: LoaderOptions) {
  return new DataLoader(
    async (versions: readonly { entry_id: string; version: string }[]) => {
      const rows = await db
        .selectFrom('version')
        .select((row) => [
          'entry_id',
          'version',
          'sha256',
          row
            .case()
            .when('digest_format', '=', digestFormat)
            .then(null)
            .else(row.ref('document'))
            .end()
            .as('old'),
        ])
        .where((row) =>
          row.or(
            versions.map(({ entry_id, version }) =>
              row.and([row('entry_id', '=', entry_id), row('version', '=', version)]),
            ),
          ),
        )
        .execute()
      return versions.map(({ entry_id, version }) =>
        rows.flatMap((row) =>
          row.entry_id === entry_id && row.version === version ? storedDigest(row.sha256, row.old) : [],
        ),
      )
    },
    { ...options, maxBatchSize: 50, cacheKeyFn: ({ entry_id, version }) => `${entry_id} ${version}` },
  )
}

/** The claims of an entry's row: the namespace given to its owner, and the namespace that the owner has proved. */
export function claimsIn({
  owner,
  owner_namespace,
  proved_namespace,
}: Pick<EntryTable, 'owner' | 'owner_namespace' | 'proved_namespace'>): Claim[] {
  const holder = toActor(owner)
  if (!holder) return []
  return [
    ...(owner_namespace === null ? [] : [{ namespace: owner_namespace, holder, proved: false }]),
    ...(proved_namespace === null ? [] : [{ namespace: proved_namespace, holder, proved: true }]),
  ]
}

export function claimKey({ namespace, holder, proved }: Claim): string {
  return JSON.stringify([namespace, holder.issuer, holder.subject, proved])
}

function distinct(claims: readonly Claim[]): Claim[] {
  return [...new Map(claims.map((claim) => [claimKey(claim), claim])).values()]
}

/** The entry in a row. Throws UnreadableEntry. */
export function parseEntry({ id, document }: Pick<Row, 'id' | 'document'>): StoredEntry {
  try {
    return StoredEntry.parse(JSON.parse(document))
  } catch (fault) {
    throw new UnreadableEntry(id, fault)
  }
}
