import { Failure } from '../../schemas/failure.ts'
import type { Principal } from '../../schemas/scope.ts'
import type { Revocations } from './revocations.ts'
import { clockTolerance_s, newTokenHint } from './verify.ts'

/** Whether callers may still do what they were allowed to begin: for everything that outlives a check of their token. */
export interface Standing {
  /** True if the credential of the caller is revoked. */
  revoked(caller: Pick<Principal, 'issuer' | 'subject' | 'credential'>): boolean
  /**
   * Calls `end` once, when the credential of the caller is revoked or, for `listens`, has expired: work that was begun in
   * time goes on, but nobody listens with an expired token. The returned function stops it.
   */
  watch(caller: Principal | null, end: (reason: Failure) => void, until?: 'listens' | 'works'): () => void
}

interface StandingOptions {
  readonly revocations: Pick<Revocations, 'revoked' | 'onChange'>
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

interface Watched {
  readonly check: () => void
  place: number
}

/** The longest time of a timer. */
const maxTimer = 2 ** 31 - 1

export function createStanding({ revocations, clock }: StandingOptions): Standing {
  /** An array, as that of the running calls. */
  const all: Watched[] = []
  revocations.onChange(() => {
    for (const { check } of [...all]) check()
  })

  function remove(watched: Watched): void {
    if (watched.place < 0) return
    const last = all.pop()
    if (last && last !== watched) {
      all[watched.place] = last
      last.place = watched.place
    }
    watched.place = -1
  }

  return {
    revoked: (caller) => revocations.revoked(caller),
    watch(caller, end, until = 'listens') {
      if (!caller?.credential) return () => {}
      const { expires_at } = caller
      const ends = expires_at === undefined ? undefined : (expires_at + clockTolerance_s) * 1000
      let timer: NodeJS.Timeout | undefined
      const stop = () => {
        clearTimeout(timer)
        remove(watched)
      }
      const check = () => {
        if (watched.place < 0) return
        const isRevoked = revocations.revoked(caller)
        const isExpired = until === 'listens' && ends !== undefined && clock() >= ends
        if (!isRevoked && !isExpired) return arm()
        stop()
        const message = isRevoked ? 'The token has been revoked.' : 'The token has expired.'
        end(new Failure('unauthenticated', message, { hint: newTokenHint }))
      }
      const arm = () => {
        clearTimeout(timer)
        if (until !== 'listens' || ends === undefined) return
        timer = setTimeout(check, Math.min(Math.max(ends - clock(), 1), maxTimer)).unref()
      }
      const watched: Watched = { check, place: all.length }
      all.push(watched)
      check()
      return stop
    },
  }
}
