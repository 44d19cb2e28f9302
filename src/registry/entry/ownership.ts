import type {
  AuditEvent,
  AuditPage,
  AuditRange,
  RegistryEventPage,
  RegistryEventRange,
} from '../../../schemas/audit.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { ReportInput } from '../../../schemas/moderation.ts'
import type { Principal } from '../../../schemas/scope.ts'
import type { SuspensionInput, SuspensionPage, SuspensionRange } from '../../../schemas/suspension.ts'
import { Actor } from '../../../schemas/trust.ts'
import { dayMilliseconds } from '../../common/days.ts'
import { principalKey } from '../../common/principal-key.ts'
import type { Store, SuspendedEntry, SuspensionPosition } from '../../store/store.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import { decodePosition, encodePosition, numberIn, takePage } from '../queries/cursor.ts'
import type { Committed, Editor } from './editor.ts'
import { isAdmin, isVisible, mayRead } from './permissions.ts'
import { toReference } from './reference.ts'

/** Suspension, reports and the audit log of entries. */
interface OwnershipService {
  suspend(request: SuspensionInput, caller: Principal | null): Promise<Committed>
  /** The suspended agents, the newest suspension first. For admins. */
  listSuspensions(range: SuspensionRange): Promise<SuspensionPage>
  /** Reports a problem to the owner and to admins. Throws Failure `quota_exceeded` for a second report within a day. */
  report(request: ReportInput, caller: Principal | null): Promise<void>
  /**
   * The audit log of an entry, newest first, deleted entries included; for its owner and admins. A former owner reads
   * only the event by which the entry was taken over, and an admin, by the id, what is kept of a purged entry.
   */
  audit(range: AuditRange, caller: Principal | null): Promise<AuditPage>
  /** The audit log of all entries, newest first: all events, or those of one action. For admins. */
  auditOfAll(range: RegistryEventRange): Promise<RegistryEventPage>
}

/** Former owners who are told of take-overs; those of earlier ones are not. */
const maxTakeOvers = 100

export function createOwnershipService(store: Store, editor: Editor, clock: () => number): OwnershipService {
  const suspend: OwnershipService['suspend'] = ({ suspended, reason, ...change }, caller) =>
    editor.change(
      change,
      caller,
      { action: suspended ? 'suspend' : 'lift_suspension', ...(reason !== undefined && { reason }) },
      (entry, by, at) => {
        if (!isAdmin(by)) throw new Failure('forbidden', 'Suspending needs admin.', { scope: 'admin' })
        if (suspended === (entry.suspended !== null)) {
          throw new Failure(
            'wrong_state',
            `${entry.package_name} is ${suspended ? 'already' : 'not'} suspended.`,
          )
        }
        return { ...entry, suspended: suspended ? { reason: reason ?? '', at } : null }
      },
    )

  async function report({ agent, reason, detail }: ReportInput, caller: Principal | null): Promise<void> {
    if (!caller) throw Failure.needsToken()
    const yesterday = new Date(clock() - dayMilliseconds).toISOString()
    await store.write(async (writer) => {
      const entry = visibleEntry(await writer.entry(toReference(agent)), caller, agent)
      const last = await writer.lastDone(entry.id, 'report', caller)
      if (last !== undefined && last > yesterday) throw reportedAlready(entry, last)
      const text = detail === undefined ? reason : `${reason}: ${detail}`
      await writer.record(entry.id, { actor: caller, action: 'report', reason: text })
    })
  }

  const audit: OwnershipService['audit'] = async ({ agent, ...range }, caller) => {
    const reference = toReference(agent)
    const entry = await store.read.entry(reference)
    if (!entry) {
      // The log outlives a purged entry.
      const isKept = caller !== null && isAdmin(caller) && 'id' in reference
      const page = isKept ? await pageOf(reference.id, range, caller) : undefined
      if (page && page.events.length > 0) return page
      throw unlisted(agent)
    }
    const lost = caller && !mayRead(caller, entry) ? await takenFrom(entry, caller) : []
    if (lost.length > 0) return { events: lost, next_cursor: null }
    if (!(isVisible(entry, caller) || mayRead(caller, entry))) throw unlisted(agent)
    if (!caller || !mayRead(caller, entry)) {
      throw new Failure('forbidden', `Only its owner may read the log of ${entry.package_name}.`)
    }
    return await pageOf(entry.id, range, caller)
  }

  async function pageOf(id: string, range: Range, caller: Principal): Promise<AuditPage> {
    const { events, next_cursor } = await pageBy(['audit', id], range, (count, before) =>
      store.read.audit(id, count, before),
    )
    return { events: events.map((event) => anonymised(event, caller)), next_cursor }
  }

  const listSuspensions: OwnershipService['listSuspensions'] = async ({ by, limit, cursor }) => {
    const question = ['suspensions', by]
    const found = await store.read.suspended(
      by,
      limit + 1,
      cursor === undefined ? undefined : timeIn(cursor, question),
    )
    const { page, last } = takePage(found, limit)
    const next = last ? encodePosition({ key: last.position.at, id: last.position.id }, question) : null
    return { agents: page.flatMap(suspendedAgent), next_cursor: next }
  }

  const auditOfAll: OwnershipService['auditOfAll'] = ({ action, ...range }) =>
    pageBy(['audit of all', action ?? ''], range, (count, before) =>
      store.read.auditOfAll(count, before, action),
    )

  /** The events by which the entry was taken over from the caller, without the new owner. */
  async function takenFrom(entry: StoredEntry, caller: Principal): Promise<AuditEvent[]> {
    const events = await store.read.audit(entry.id, maxTakeOvers, undefined, 'take_over')
    return events.flatMap((event) => {
      const former = Actor.safeParse(event.before?.owner).data
      if (!former || principalKey(former) !== principalKey(caller)) return []
      return { ...event, actor: null, before: { owner: event.before?.owner }, after: null }
    })
  }

  return { suspend, listSuspensions, report, audit, auditOfAll }
}

type Range = Omit<AuditRange, 'agent'>

/** A page of events, newest first; its cursor is valid for the same `question` alone. */
async function pageBy<Event extends AuditEvent>(
  question: readonly string[],
  { limit, cursor }: Range,
  read: (count: number, before: number | undefined) => Promise<readonly Event[]>,
): Promise<{ events: Event[]; next_cursor: string | null }> {
  const before = cursor === undefined ? undefined : numberIn(decodePosition(cursor, question).id)
  const found = await read(limit + 1, before)
  const { page, last } = takePage(found, limit)
  const next_cursor = last ? encodePosition({ key: 'id', id: String(last.id) }, question) : null
  return { events: page, next_cursor }
}

/** The time and the id in a cursor. */
function timeIn(cursor: string, question: readonly string[]): SuspensionPosition {
  const { key, id } = decodePosition(cursor, question)
  return { at: String(key), id }
}

function suspendedAgent({ entry, by }: SuspendedEntry): SuspensionPage['agents'] {
  const { id, package_name, name, owner, state, deleted, suspended } = entry
  if (!suspended) return []
  const shown = owner && { issuer: owner.issuer, subject: owner.subject }
  return [{ id, package_name, name, owner: shown, state, deleted, suspended, suspended_by: by }]
}

function reportedAlready({ package_name }: StoredEntry, at: string): Failure {
  return new Failure('quota_exceeded', `You reported ${package_name} already, at ${at}.`, {
    hint: 'Its owner and the admins read that report. You may report it again a day later.',
  })
}

/** Only admins see who reported. */
function anonymised(event: AuditEvent, caller: Principal): AuditEvent {
  return event.action === 'report' && !isAdmin(caller) ? { ...event, actor: null } : event
}

function visibleEntry(entry: StoredEntry | undefined, caller: Principal, agent: string): StoredEntry {
  if (entry && isVisible(entry, caller)) return entry
  throw unlisted(agent)
}

function unlisted(agent: string): Failure {
  return new Failure('not_found', `No agent is listed as ${agent}.`)
}
