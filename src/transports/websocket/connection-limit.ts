import { Failure } from '../../../schemas/failure.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { principalKey } from '../../common/principal-key.ts'

export interface ConnectionLimits {
  /** Maximum sockets; half of them are kept for callers with tokens. */
  readonly max_connections?: number
  /** Maximum sockets without a token from one address. */
  readonly max_per_address?: number
  /** Maximum sockets with tokens of one subject, from any address. */
  readonly max_per_subject?: number
}

/** Counts the open sockets in total and of each caller, so that no caller uses up the connections of all others. */
export class ConnectionLimit {
  readonly #limits: Required<ConnectionLimits>
  /** Closes the socket without a token that has been idle longest; false if there is none. */
  readonly #closeIdle: () => boolean
  readonly #counts = new Map<string, number>()
  #total = 0
  #anonymous = 0

  constructor(
    { max_connections = 1000, max_per_address = 64, max_per_subject = 256 }: ConnectionLimits,
    closeIdle: () => boolean,
  ) {
    this.#limits = { max_connections, max_per_address, max_per_subject }
    this.#closeIdle = closeIdle
  }

  /** Counts one more socket of this caller; the returned function releases it. Throws Failure `unavailable`. */
  acquire(principal: Principal | null, address: string): () => void {
    const { max_connections, max_per_address, max_per_subject } = this.#limits
    const [key, max, owner] = principal
      ? [principalKey(principal), max_per_subject, principal.subject]
      : [address, max_per_address, 'this address without a token']
    const count = this.#counts.get(key) ?? 0
    if (count >= max) throw unavailable(`${max} sockets are open for ${owner}; close one of them first.`)
    const isFull =
      this.#total >= max_connections || (!principal && this.#anonymous >= Math.ceil(max_connections / 2))
    if (isFull && !this.#closeIdle()) throw unavailable('No more sockets are accepted now.')
    this.#counts.set(key, count + 1)
    this.#count(principal, 1)
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      this.#release(key)
      this.#count(principal, -1)
    }
  }

  #count(principal: Principal | null, by: 1 | -1): void {
    this.#total += by
    if (!principal) this.#anonymous += by
  }

  #release(key: string): void {
    const left = (this.#counts.get(key) ?? 0) - 1
    if (left > 0) this.#counts.set(key, left)
    else this.#counts.delete(key)
  }
}

export function unavailable(message: string): Failure {
  return new Failure('unavailable', message, { retry_after_s: 5 })
}
