import { EventEmitter, once } from 'node:events'
import { counted } from '../../schemas/counted.ts'
import { Failure } from '../../schemas/failure.ts'
import type { PoolBounds, SessionBounds, SessionStore, Step } from '../../schemas/playground.ts'
import { principalKey } from '../../src/common/principal-key.ts'
import { isAnonymous } from './caller.ts'
import type { PlaygroundCaller, Sessions } from './port.ts'

const lifetime = 3_600_000
const megabyte = 1024 * 1024
/** Characters of steps in one answer, not counting its first step; every transport answers with at most 1 MiB. */
const maxHistoryCharacters = 768 * 1024

export interface PlaygroundLimits {
  readonly session: SessionBounds
  /** Limits of one owner. */
  readonly owner: PoolBounds
  /** Limits of one address without a token. */
  readonly address: PoolBounds
  /** Limits of all callers without a token together. */
  readonly anonymous: PoolBounds
  /** Maximum watchers of one session in one process. */
  readonly watchers: number
}

export const defaultLimits: PlaygroundLimits = {
  session: { steps: 200, characters: 4 * megabyte },
  owner: { sessions: 100, characters: 64 * megabyte },
  address: { sessions: 100, characters: 32 * megabyte },
  anonymous: { sessions: 20_000, characters: 512 * megabyte },
  watchers: 16,
}

export interface SessionsOptions {
  readonly store: SessionStore
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** 128 random bits as text. */
  readonly createId: () => string
  readonly limits?: Partial<PlaygroundLimits>
  /** Milliseconds between two polls for steps that other processes stored. */
  readonly poll_ms?: number
}

/** Sessions in the store; each lasts an hour. */
export function createSessions({ store, clock, createId, ...options }: SessionsOptions): Sessions {
  const limits = { ...defaultLimits, ...options.limits }
  const { poll_ms = 1000 } = options
  const changes = new EventEmitter().setMaxListeners(0)
  const watchers = new Map<string, number>()

  const poolsOf = (owner: string | null) => ({
    own: owner === null ? limits.address : limits.owner,
    anonymous: limits.anonymous,
  })

  async function find(id: string, caller: PlaygroundCaller) {
    const session = await store.get(id)
    if (session && (session.owner === null || session.owner === ownerOf(caller))) return session
    throw gone()
  }

  return {
    find,
    async create(caller, address) {
      const owner = ownerOf(caller)
      const now = clock()
      const counted_by = owner === null ? address : null
      const times = { created_at: iso(now), expires_at: iso(now + lifetime) }
      const session = { id: createId(), owner, counted_by, ...times }
      await store.add(session, poolsOf(owner))
      return { ...session, steps: 0 }
    },
    async reserve(id, caller) {
      await find(id, caller)
      const verdict = await store.reserve(id, limits.session)
      if (verdict === 'gone') throw gone()
      if (verdict === 'full') throw full(limits.session)
    },
    async keep(id, step) {
      const session = await store.get(id)
      const number = session && (await store.append(id, step, poolsOf(session.owner)))
      if (number === undefined) throw gone()
      changes.emit(id)
      return number
    },
    steps: (id, after) => store.steps(id, after, maxHistoryCharacters),
    async *follow(id, after, signal) {
      const count = watchers.get(id) ?? 0
      if (count >= limits.watchers) throw tooManyWatchers(limits.watchers)
      watchers.set(id, count + 1)
      try {
        yield* stepsOf(id, after, signal)
      } finally {
        const left = (watchers.get(id) ?? 1) - 1
        if (left > 0) watchers.set(id, left)
        else watchers.delete(id)
      }
    },
    async remove(id) {
      await store.remove(id)
      changes.emit(id)
    },
  }

  async function* stepsOf(id: string, after: number, signal: AbortSignal): AsyncGenerator<Step> {
    let seen = after
    while (!signal.aborted) {
      const polled = new AbortController()
      const enough = AbortSignal.any([signal, polled.signal, AbortSignal.timeout(poll_ms)])
      // Listens before it reads, so that no step is missed in between.
      const changed = once(changes, id, { signal: enough }).catch(() => {})
      const [step] = await store.steps(id, seen, 0)
      if (!step && !(await store.get(id))) return
      if (!step) await changed
      polled.abort()
      if (!step) continue
      seen = step.number
      yield step
    }
  }
}

function ownerOf(caller: PlaygroundCaller): string | null {
  return isAnonymous(caller) ? null : principalKey(caller)
}

function iso(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

function gone(): Failure {
  return new Failure('not_found', 'There is no such playground session, or its hour is over.', {
    hint: 'create_session creates a new one.',
  })
}

function full({ steps, characters }: SessionBounds): Failure {
  return new Failure(
    'too_large',
    `The session is full: it holds ${counted(steps, 'call')} and ${characters} characters.`,
    {
      hint: 'create_session creates a new one.',
    },
  )
}

function tooManyWatchers(max: number): Failure {
  return new Failure('rate_limited', `${max} streams watch this session already.`, {
    hint: 'Close one, or poll the session.',
    retry_after_s: 5,
  })
}
