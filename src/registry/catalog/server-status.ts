import compare from 'semver/functions/compare.js'
import parse from 'semver/functions/parse.js'
import { Failure } from '../../../schemas/failure.ts'
import type { Principal } from '../../../schemas/scope.ts'
import type { ServerStatusInput, ServerVersion } from '../../../schemas/server.ts'
import { sortableTime } from '../../common/sortable-time.ts'
import type { Store } from '../../store/store.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import { assertMayChange, assertNotSuspended } from '../entry/permissions.ts'

/** The versions whose status was changed, and the revision of the change. */
interface ChangedStatus {
  readonly rows: readonly ServerVersion[]
  readonly revision: number
}

/**
 * Changes the status of a version, or of all versions of a name. When all versions are deprecated, so is the agent;
 * when all are deleted, it is no longer listed, until a version is active again.
 */
export function createServerStatus({ store, clock }: { store: Pick<Store, 'write'>; clock: () => number }) {
  return async function setStatus(input: ServerStatusInput, principal: Principal): Promise<ChangedStatus> {
    const { name, version, status, statusMessage = null } = input
    if (status === 'active' && statusMessage !== null) {
      throw new Failure('wrong_state', 'statusMessage cannot be provided when setting status to active.')
    }
    const { result, revision } = await store.write(async (writer) => {
      const all = await writer.serversNamed([name])
      const entry = all[0] && (await writer.entry({ id: all[0].entry_id }))
      if (!entry || entry.deleted) throw unknownServer(name)
      assertMayChange(principal, entry, name)
      assertNotSuspended(entry)
      const chosen = all.filter((row) => version === undefined || row.version === version)
      if (chosen.length === 0) throw unknownServer(name)
      const changed = new Set(
        chosen.filter((row) => row.status !== status || row.status_message !== statusMessage),
      )
      if (changed.size === 0) {
        throw new Failure('wrong_state', 'No changes to apply: status and message are already set.')
      }
      const time = new Date(clock()).toISOString()
      const at = sortableTime(time) ?? time
      const rows = withLatest(
        all.map((row) => (changed.has(row) ? withStatus(row, status, statusMessage, at) : row)),
      )
      const next = { ...entry, ...standingOf(rows, entry, time), updated_at: time }
      const { issuer, subject } = principal
      await writer.put(next, { actor: { issuer, subject }, action: `status_${status}` })
      await writer.putServers(rows)
      const names = new Set([...changed].map((row) => row.version))
      return rows.filter((row) => names.has(row.version))
    })
    return { rows: result, revision }
  }
}

function withStatus(
  row: ServerVersion,
  status: ServerVersion['status'],
  status_message: string | null,
  at: string,
): ServerVersion {
  const status_changed_at = row.status === status ? row.status_changed_at : at
  return { ...row, status, status_message, status_changed_at, updated_at: at, is_listed: true }
}

/** The highest version that is not deleted is the latest one; semantic versions come before others. */
function withLatest(rows: readonly ServerVersion[]): ServerVersion[] {
  const living = rows.filter(({ status }) => status !== 'deleted')
  const [latest] = (living.length > 0 ? living : rows).toSorted(byPrecedence)
  return rows.map((row) => ({ ...row, is_latest: row === latest }))
}

function byPrecedence(left: ServerVersion, right: ServerVersion): number {
  const [version, other] = [parse(left.version), parse(right.version)]
  if (version && other) return compare(other, version)
  if (version || other) return version ? -1 : 1
  return left.published_at < right.published_at ? 1 : -1
}

/** State and deprecation of the agent, by those of its versions. */
function standingOf(
  rows: readonly ServerVersion[],
  { deprecated }: StoredEntry,
  at: string,
): Pick<StoredEntry, 'state' | 'deprecated'> {
  const living = rows.filter(({ status }) => status !== 'deleted')
  const latest = living.find(({ is_latest }) => is_latest)
  const isDeprecated = living.length > 0 && living.every(({ status }) => status === 'deprecated')
  const statement = { message: latest?.status_message ?? null, successor: deprecated?.successor ?? null, at }
  return {
    state: living.length > 0 ? 'ACTIVE' : 'STAGE',
    deprecated: isDeprecated ? (deprecated ?? statement) : living.length > 0 ? null : deprecated,
  }
}

function unknownServer(name: string): Failure {
  return new Failure('not_found', `No such version of ${name} is listed.`)
}
