import type { ChangePage, RegistryChange } from '../../../schemas/change.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { Store } from '../../store/store.ts'
import { toReference } from '../entry/reference.ts'
import { createFollowerLimit, type Follower, type FollowerLimits } from './follower-limit.ts'
import type { ReadChanges, Span } from './read-changes.ts'
import { startTail, type Tail } from './tail.ts'

/** The change feed of the registry. */
export interface ChangeFeed extends AsyncDisposable {
  /**
   * Throws Failure `invalid_request` for a revision in the future, `cursor_expired` for one that is too old. The page of
   * an agent that is not known is empty, as that of one that nobody sees.
   */
  page(since: number, limit: number, agent?: string): Promise<ChangePage>
  /**
   * All changes after a revision, in order, then new ones until the signal aborts. Each span is read after the
   * previous one was consumed. Throws as `page` does, and Failure `rate_limited` or `unavailable` if too many clients
   * follow, or if the registry was restored to an earlier revision.
   */
  follow(since: number, who: Follower, signal: AbortSignal, agent?: string): AsyncGenerator<FollowedSpan>
}

export interface FollowedSpan {
  readonly changes: readonly RegistryChange[]
  readonly up_to: number
  /** True if the page reaches the current revision. */
  readonly complete: boolean
}

export interface ChangeFeedOptions {
  readonly store: Pick<Store, 'wake' | 'read' | 'retention'>
  readonly read: ReadChanges
  readonly onError: (fault: unknown) => void
  readonly limits?: Partial<FollowerLimits> | undefined
}

const pageSize = 100

/**
 * One tail reads for all followers. A follower that is far behind or slow reads the log itself and uses no buffer.
 */
export function createChangeFeed({ store, read, onError, limits }: ChangeFeedOptions): ChangeFeed {
  const take = createFollowerLimit(limits)
  let followers = 0
  let tail: Tail | undefined
  let restarts = 0

  async function readAfter(since: number, limit: number, agent?: string): Promise<Span> {
    if (since > 0 && since < (await store.retention.prunedRevision())) throw tooOld(since)
    const span = await read(since, limit, agent === undefined ? undefined : await idOf(agent))
    if (span) return span
    throw aheadOfRegistry(since, await store.read.revision())
  }

  async function idOf(agent: string): Promise<string> {
    return (await store.read.entry(toReference(agent)))?.id ?? ''
  }

  function join(): Tail {
    followers += 1
    tail ??= startTail({
      store,
      read,
      onError,
      restarted() {
        restarts += 1
      },
    })
    return tail
  }

  async function leave(): Promise<void> {
    followers -= 1
    if (followers > 0) return
    const last = tail
    tail = undefined
    await last?.[Symbol.asyncDispose]()
  }

  return {
    async page(since, limit, agent) {
      const { updates, up_to, complete } = await readAfter(since, limit, agent)
      const revision = complete ? up_to : Math.max(up_to, await store.read.revision())
      const changes = updates.map(({ change }) => change)
      return { changes, next_since: up_to, revision, more: up_to < revision }
    },
    async *follow(since, who, signal, agent) {
      const isOf = agentFilter(agent)
      using _slot = take(who)
      const followed = join()
      const begun = restarts
      const arrived = createAsyncEvent()
      const unhear = followed.onMove(arrived.ring)
      signal.addEventListener('abort', arrived.ring, { once: true })
      try {
        for (let at: number | undefined; !signal.aborted; ) {
          if (restarts !== begun) throw setBack(at ?? since)
          const { updates, up_to, complete } =
            followed.after(at ?? since) ?? (await readAfter(at ?? since, pageSize))
          if (up_to === at) await arrived.rung()
          else yield { changes: updates.map(({ change }) => change).filter(isOf), up_to, complete }
          at = up_to
        }
      } finally {
        signal.removeEventListener('abort', arrived.ring)
        unhear()
        await leave()
      }
    },
    async [Symbol.asyncDispose]() {
      await tail?.[Symbol.asyncDispose]()
    },
  }
}

/** Passes the changes of one agent; all without one. */
function agentFilter(agent: string | undefined): (change: RegistryChange) => boolean {
  if (agent === undefined) return () => true
  const reference = toReference(agent)
  return ({ id, package_name }) =>
    'id' in reference ? id === reference.id : package_name === reference.package_name
}

function aheadOfRegistry(since: number, revision: number): Failure {
  return new Failure('invalid_request', `The registry is at revision ${revision}, before ${since}.`, {
    errors: [{ pointer: '/since', detail: `This is at most ${revision}.` }],
    hint: 'If the registry was restored from a backup, start again with since=0.',
  })
}

function tooOld(since: number): Failure {
  return new Failure('cursor_expired', `Changes after revision ${since} are no longer kept.`, {
    errors: [{ pointer: '/since', detail: 'Removals after this revision may be missing.' }],
    hint: 'Start again with since=0, and drop agents that the changes from there do not name.',
  })
}

function setBack(at: number): Failure {
  return new Failure('unavailable', `The registry was restored to a state before revision ${at}.`, {
    hint: 'Start again with since=0.',
  })
}

/** An auto-reset event: a signal wakes one waiter, or the next waiter if none waits. */
interface AsyncEvent {
  readonly ring: () => void
  rung(): Promise<void>
}

function createAsyncEvent(): AsyncEvent {
  let hasRung = false
  let wake = () => {}
  return {
    ring() {
      hasRung = true
      wake()
    },
    async rung() {
      if (!hasRung) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      hasRung = false
    },
  }
}
