import { Failure } from '../../../schemas/failure.ts'
import type { ReportInput } from '../../../schemas/moderation.ts'
import type { Principal } from '../../../schemas/scope.ts'
import type { SuspensionInput, SuspensionPage, SuspensionRange } from '../../../schemas/suspension.ts'
import { dayMilliseconds } from '../../common/days.ts'
import type { Store, SuspendedEntry, SuspensionPosition } from '../../store/store.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import { decodePosition, encodePosition, takePage } from '../queries/cursor.ts'
import type { Committed, Editor } from './editor.ts'
import { isAdmin, isVisible } from './permissions.ts'
import { toReference, unlisted } from './reference.ts'

/** Suspension and reports of entries. */
interface Moderation {
  suspend(request: SuspensionInput, caller: Principal | null): Promise<Committed>
  /** The suspended agents, the newest suspension first. For admins. */
  listSuspensions(range: SuspensionRange): Promise<SuspensionPage>
  /** Reports a problem to the owner and to admins. Throws Failure `quota_exceeded` for a second report within a day. */
  report(request: ReportInput, caller: Principal | null): Promise<void>
}

export function createModeration(store: Store, editor: Editor, clock: () => number): Moderation {
  return {
    suspend: ({ suspended, reason, ...change }, caller) =>
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
      ),
    async listSuspensions({ by, limit, cursor }) {
      const question = ['suspensions', by]
      const before = cursor === undefined ? undefined : timeIn(cursor, question)
      const { page, last } = takePage(await store.read.suspended(by, limit + 1, before), limit)
      const next = last ? encodePosition({ key: last.position.at, id: last.position.id }, question) : null
      return { agents: page.flatMap(suspendedAgent), next_cursor: next }
    },
    async report({ agent, reason, detail }, caller) {
      if (!caller) throw Failure.needsToken()
      const yesterday = new Date(clock() - dayMilliseconds).toISOString()
      await store.write(async (writer) => {
        const entry = await writer.entry(toReference(agent))
        if (!entry || !isVisible(entry, caller)) throw unlisted(agent)
        const last = await writer.lastDone(entry.id, 'report', caller)
        if (last !== undefined && last > yesterday) throw reportedAlready(entry, last)
        const text = detail === undefined ? reason : `${reason}: ${detail}`
        await writer.record(entry.id, { actor: caller, action: 'report', reason: text })
      })
    },
  }
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
