import { hash } from 'node:crypto'
import { sql } from 'kysely'
import { type QuotaNumbers, quotaNames } from '../../../schemas/quota.ts'
import { chunksOf } from '../../common/chunks.ts'
import { isPostgres } from '../migrations/column-types.ts'
import { type Database, type EntryTable, maxRowsPerStatement, type OwnerUsageTable } from '../sql/tables.ts'
import type { Statement, Transact } from '../sql/transaction.ts'
import type { AccountUsage, RankedUsage, UsageStore } from '../store.ts'
import type { StoredEntry } from '../stored-entry.ts'
import { actorKey } from './audit.ts'

/** What was counted for a row. */
export type Counted = Pick<EntryTable, 'account' | 'staged' | 'bytes'>

export const uncounted: Counted = { account: null, staged: 0, bytes: 0 }

/** What a change adds to an account; numbers may be negative. */
export interface UsageDelta {
  readonly account: string
  readonly numbers: QuotaNumbers
}

/** What is counted for an entry. A namespace claim counts for all subjects that use it together. */
export function countedOf({ owner, hosted, deleted, state }: StoredEntry, bytes: number): Counted {
  if (!owner || hosted || deleted) return uncounted
  return { account: owner.namespace ?? actorKey(owner), staged: state === 'STAGE' ? 1 : 0, bytes }
}

/** What a change of a row adds to the accounts before and after it. */
export function deltasOf(before: Counted, after: Counted, isVersion: boolean): readonly UsageDelta[] {
  const of = ({ account, staged, bytes }: Counted, sign: 1 | -1, versions: number): UsageDelta[] => {
    if (account === null) return []
    const numbers = { entries: sign, stage_entries: sign * staged, bytes: sign * bytes }
    return [{ account, numbers: { ...numbers, versions_per_day: versions } }]
  }
  return summed([...of(before, -1, 0), ...of(after, 1, isVersion ? 1 : 0)])
}

const noLimits = '{}'
const none: QuotaNumbers = { entries: 0, stage_entries: 0, bytes: 0, versions_per_day: 0 }

export function plus(left: QuotaNumbers, right: QuotaNumbers): QuotaNumbers {
  return {
    entries: left.entries + right.entries,
    stage_entries: left.stage_entries + right.stage_entries,
    bytes: left.bytes + right.bytes,
    versions_per_day: left.versions_per_day + right.versions_per_day,
  }
}

/** One delta for each account that changes. */
function summed(deltas: readonly UsageDelta[]): UsageDelta[] {
  const sums = new Map<string, QuotaNumbers>()
  for (const { account, numbers } of deltas) sums.set(account, plus(sums.get(account) ?? none, numbers))
  return [...sums]
    .filter(([, numbers]) => Object.values(numbers).some((number) => number !== 0))
    .map(([account, numbers]) => ({ account, numbers }))
}

/** Adds deltas to the sums, in the transaction that writes their entries; `at` is its time. */
export async function addUsage(
  transaction: Database,
  deltas: readonly UsageDelta[],
  at: string,
): Promise<void> {
  for (const statement of usageStatements(transaction, deltas, at)) await statement.execute()
}

/** Where the versions of a day count for an account whose owner has deleted everything: it does not name the owner. */
function erasedKey(account: string): string {
  return `${erasedPrefix}${hash('sha256', account, 'base64url')}`
}

const erasedPrefix = 'erased:'

/**
 * Forgets what an account uses. Limits that an admin has set, and the versions of this day, count also for an owner who
 * deletes everything and comes back.
 */
export async function forgetUsage(db: Database, account: string, at: string): Promise<void> {
  const { used } = (await readUsage(db, [account], at)).get(account) ?? { used: none }
  const nothing = { entries: 0, stage_entries: 0, bytes: 0, versions: 0, versions_on: '' }
  await db.updateTable('owner_usage').set(nothing).where('account', '=', account).execute()
  await pruneUsage(db, at)
  if (used.versions_per_day === 0) return
  const count = { versions: used.versions_per_day, versions_on: dayOf(at) }
  await db
    .insertInto('owner_usage')
    .values({ ...nothing, ...count, account: erasedKey(account), limits: noLimits })
    .onConflict((conflict) => conflict.column('account').doUpdateSet(count))
    .execute()
}

/** Deletes the rows that count nothing and limit nothing; versions count for their day. */
export async function pruneUsage(db: Database, at: string): Promise<void> {
  await db
    .deleteFrom('owner_usage')
    .where((row) => row.and({ entries: 0, stage_entries: 0, bytes: 0, limits: noLimits }))
    .where('versions_on', '!=', dayOf(at))
    .execute()
}

/** The statements of `addUsage`. */
export function usageStatements(
  transaction: Database,
  deltas: readonly UsageDelta[],
  at: string,
): Statement[] {
  const rows = summed(deltas).map(
    ({ account, numbers: { versions_per_day, ...counts } }): OwnerUsageTable => {
      return { account, ...counts, versions: versions_per_day, versions_on: dayOf(at), limits: noLimits }
    },
  )
  return Array.from(chunksOf(rows, maxRowsPerStatement), (chunk) =>
    transaction
      .insertInto('owner_usage')
      .values(chunk)
      .onConflict((conflict) =>
        conflict.column('account').doUpdateSet((row) => ({
          entries: sql`owner_usage.entries + excluded.entries`,
          stage_entries: sql`owner_usage.stage_entries + excluded.stage_entries`,
          bytes: sql`owner_usage.bytes + excluded.bytes`,
          versions: sql`excluded.versions
            + case when owner_usage.versions_on = excluded.versions_on then owner_usage.versions else 0 end`,
          versions_on: row.ref('excluded.versions_on'),
        })),
      ),
  )
}

/** What accounts use at a time; an account without a row uses nothing. */
export async function readUsage(
  db: Database,
  accounts: readonly string[],
  at: string,
): Promise<Map<string, AccountUsage>> {
  const found = new Map<string, AccountUsage>()
  for (const account of accounts) found.set(account, { used: none, limits: {} })
  const erased = new Map(accounts.map((account) => [erasedKey(account), account]))
  for (const chunk of chunksOf([...found.keys(), ...erased.keys()], maxRowsPerStatement)) {
    const rows = await db.selectFrom('owner_usage').selectAll().where('account', 'in', chunk).execute()
    for (const row of rows) {
      const account = erased.get(row.account) ?? row.account
      const before = found.get(account) ?? { used: none, limits: {} }
      const { used, limits } = toUsage(row, dayOf(at))
      found.set(account, { used: plus(before.used, used), limits: { ...before.limits, ...limits } })
    }
  }
  return found
}

/** The accounts that use something on a day, or have limits of their own, the largest share first. */
async function rankUsage(
  db: Database,
  day: string,
  standard: QuotaNumbers | null,
  limit: number,
  after?: Pick<RankedUsage, 'account' | 'share'>,
): Promise<RankedUsage[]> {
  const [limits, greatest] = isPostgres(db) ? [sql`limits::json`, sql`greatest`] : [sql`limits`, sql`max`]
  const versions = sql<number>`case when versions_on = ${day} then versions else 0 end`
  const shares = quotaNames.map((quota) => {
    const used = quota === 'versions_per_day' ? versions : sql.ref(quota)
    const own = sql`cast(${limits} ->> ${sql.lit(quota)} as bigint)`
    const limit = sql`coalesce(${own}, cast(${standard?.[quota] ?? null} as bigint))`
    // A limit of 0 counts as 1. Without a limit, the share is null.
    return sql`coalesce(cast(${used} as double precision) / case when ${limit} < 1 then 1 else ${limit} end, 0)`
  })
  const ranked = db
    .selectFrom('owner_usage')
    .selectAll()
    .select(sql<number>`${greatest}(${sql.join(shares)})`.as('share'))
    .where('account', 'not like', `${erasedPrefix}%`)
    .where((row) => row.or([row('entries', '>', 0), row(versions, '>', 0), row('limits', '<>', noLimits)]))
    .as('ranked')
  const rows = await db
    .selectFrom(ranked)
    .selectAll()
    .$if(after !== undefined, (query) =>
      query.where((row) =>
        row.or([
          row('share', '<', after?.share ?? 0),
          row.and([row('share', '=', after?.share ?? 0), row('account', '>', after?.account ?? '')]),
        ]),
      ),
    )
    .orderBy('share', 'desc')
    .orderBy('account')
    .limit(limit)
    .execute()
  return rows.map(({ share, ...row }) => ({ account: row.account, share, ...toUsage(row, day) }))
}

function toUsage({ entries, stage_entries, bytes, ...row }: OwnerUsageTable, day: string): AccountUsage {
  const versions_per_day = row.versions_on === day ? row.versions : 0
  return { used: { entries, stage_entries, bytes, versions_per_day }, limits: JSON.parse(row.limits) }
}

/** ISO 8601, in UTC. */
function dayOf(at: string): string {
  return at.slice(0, 10)
}

/** `transact` is of the realm of entries, so that a decision sees the limit or follows it. */
export function createUsageStore(reader: Database, transact: Transact, clock: () => number): UsageStore {
  const now = () => new Date(clock()).toISOString()
  return {
    get: (accounts) => readUsage(reader, accounts, now()),
    rank: (...query) => rankUsage(reader, dayOf(now()), ...query),
    setLimit: (account, quota, limit) =>
      transact(async (db) => {
        const { limits = {} } = (await readUsage(db, [account], now())).get(account) ?? {}
        const { [quota]: _, ...others } = limits
        const next = JSON.stringify(limit === null ? others : { ...others, [quota]: limit })
        const row = { account, entries: 0, stage_entries: 0, bytes: 0, versions: 0, versions_on: '' }
        await db
          .insertInto('owner_usage')
          .values({ ...row, limits: next })
          .onConflict((conflict) => conflict.column('account').doUpdateSet({ limits: next }))
          .execute()
      }),
  }
}
