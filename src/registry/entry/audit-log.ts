import type {
  AuditEvent,
  AuditPage,
  AuditRange,
  RegistryEventPage,
  RegistryEventRange,
} from '../../../schemas/audit.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { Actor } from '../../../schemas/trust.ts'
import { principalKey } from '../../common/principal-key.ts'
import type { Store } from '../../store/store.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import { decodePosition, encodePosition, numberIn, takePage } from '../queries/cursor.ts'
import { isAdmin, isVisible, mayRead } from './permissions.ts'
import { toReference, unlisted } from './reference.ts'

/** What happened to entries, the newest event first. */
interface AuditLog {
  /**
   * The log of an entry, deleted entries included; for its owner and admins. A former owner reads only the event by which
   * the entry was taken over, and an admin, by the id, what is kept of a purged entry.
   */
  audit(range: AuditRange, caller: Principal | null): Promise<AuditPage>
  /** The log of all entries: all events, or those of one action. For admins. */
  auditOfAll(range: RegistryEventRange): Promise<RegistryEventPage>
}

/** Former owners who are told of take-overs; those of earlier ones are not. */
const maxTakeOvers = 100

export function createAuditLog({ read }: Pick<Store, 'read'>): AuditLog {
  async function pageOf(id: string, range: Range, caller: Principal): Promise<AuditPage> {
    const { events, next_cursor } = await pageBy(['audit', id], range, (count, before) =>
      read.audit(id, count, before),
    )
    return { events: events.map((event) => anonymised(event, caller)), next_cursor }
  }

  /** The events by which the entry was taken over from the caller, without the new owner. */
  async function takenFrom(entry: StoredEntry, caller: Principal): Promise<AuditEvent[]> {
    const events = await read.audit(entry.id, maxTakeOvers, undefined, 'take_over')
    return events.flatMap((event) => {
      const former = Actor.safeParse(event.before?.owner).data
      if (!former || principalKey(former) !== principalKey(caller)) return []
      return { ...event, actor: null, before: { owner: event.before?.owner }, after: null }
    })
  }

  return {
    async audit({ agent, ...range }, caller) {
      const reference = toReference(agent)
      const entry = await read.entry(reference)
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
    },
    auditOfAll: ({ action, ...range }) =>
      pageBy(['audit of all', action ?? ''], range, (count, before) =>
        read.auditOfAll(count, before, action),
      ),
  }
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

/** Only admins see who reported. */
function anonymised(event: AuditEvent, caller: Principal): AuditEvent {
  return event.action === 'report' && !isAdmin(caller) ? { ...event, actor: null } : event
}
