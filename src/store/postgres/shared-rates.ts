import { hash } from 'node:crypto'
import pg from 'pg'
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible'
import { Failure } from '../../../schemas/failure.ts'
import { clientOptions, Sockets } from './connect.ts'
import { storeFailure } from './faults.ts'

/** What remains of a limit that all gateways over one database count together. */
export interface SharedAllowance {
  readonly remaining: number
  readonly reset_s: number
}

/**
 * Counts one call of a caller under a policy of `limit` calls a minute. Throws Failure `rate_limited`, and errors of
 * PostgreSQL.
 */
type TakeShared = (policy: string, caller: string, limit: number) => Promise<SharedAllowance>

const connections = 2
/** Time-outs in milliseconds. After a time-out the caller of `take` counts locally. */
const limits = { statement: 1_000, lock: 500 }
const minute = 60

/** A minute begins with a caller's first call. The table holds hashes of callers. */
export function openSharedRates(
  url: string,
  onError: (fault: unknown) => void,
): { readonly take: TakeShared } & AsyncDisposable {
  const sockets = new Sockets()
  const storeClient = new pg.Pool({
    ...clientOptions(url, limits, sockets),
    max: connections,
    idleTimeoutMillis: 60_000,
  })
  // The end of the gateway cuts connections that may not be closed yet: no outage.
  storeClient.on('error', (fault) => sockets.isCut || onError(storeFailure(fault)))
  const limiters = new Map<string, RateLimiterPostgres>()

  function limiterOf(policy: string, points: number): RateLimiterPostgres {
    const name = `${policy} ${points}`
    const cached = limiters.get(name)
    if (cached) return cached
    const limiter = new RateLimiterPostgres({
      storeClient,
      storeType: 'pool',
      tableName: 'rate',
      tableCreated: true,
      keyPrefix: policy,
      points,
      duration: minute,
      // Calls beyond the limit are refused from memory, without a statement.
      inMemoryBlockOnConsumed: points + 1,
    })
    limiters.set(name, limiter)
    return limiter
  }

  return {
    async take(policy, caller, limit) {
      try {
        const { remainingPoints, msBeforeNext } = await limiterOf(policy, limit).consume(
          hash('sha256', caller, 'base64url'),
        )
        return { remaining: remainingPoints, reset_s: Math.ceil(msBeforeNext / 1000) }
      } catch (thrown) {
        if (!(thrown instanceof RateLimiterRes)) throw storeFailure(thrown)
        throw new Failure('rate_limited', `More than ${limit} calls a minute (${policy}).`, {
          retry_after_s: Math.max(1, Math.ceil(thrown.msBeforeNext / 1000)),
        })
      }
    },
    async [Symbol.asyncDispose]() {
      await storeClient.end()
      // A server that answers no more does not close them.
      sockets.cut()
    },
  }
}
