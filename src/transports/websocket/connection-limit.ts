import { Failure } from '../../../schemas/failure.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { principalKey } from '../../common/principal-key.ts'

export interface SeatLimits {
  readonly most_connections?: number
  /** Sockets without a token from one address. */
  readonly most_per_address?: number
  /** Sockets with tokens of one subject, wherever they come from. */
  readonly most_per_subject?: number
}

/** Counts who holds how many sockets, so that no caller takes the room of all others. */
export interface Seats {
  /** Throws Failure `unavailable` where no caller may have one more. */
  assertRoom(): void
  /** Takes one more for this caller; what it returns gives it back. Throws Failure `unavailable`. */
  take(principal: Principal | null, client: string): () => void
}

export function createSeats(limits: SeatLimits): Seats {
  const { most_connections = 1000, most_per_address = 64, most_per_subject = 256 } = limits
  const held = new Map<string, number>()
  let total = 0

  function assertRoom(): void {
    if (total >= most_connections) throw noRoom('No more sockets are accepted now.')
  }

  return {
    assertRoom,
    take(principal, client) {
      assertRoom()
      const [holder, most, whose] = principal
        ? [principalKey(principal), most_per_subject, principal.subject]
        : [client, most_per_address, 'this address without a token']
      const count = held.get(holder) ?? 0
      if (count >= most) throw noRoom(`${most} sockets are open for ${whose}; close one of them first.`)
      held.set(holder, count + 1)
      total += 1
      return () => {
        const left = (held.get(holder) ?? 0) - 1
        if (left > 0) held.set(holder, left)
        else held.delete(holder)
        total -= 1
      }
    },
  }
}

export function noRoom(message: string): Failure {
  return new Failure('unavailable', message, { retry_after_s: 5 })
}
