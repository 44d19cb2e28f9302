import { Failure } from '../../../schemas/failure.ts'
import type { Clock } from '../../common/clock.ts'
import { retryAfter } from '../../common/retry-after.ts'
import type { Open } from '../../net/fetch/fetch.ts'
import { createWebFetch } from '../../net/fetch/web-fetch.ts'
import { mostValues } from '../check-output.ts'
import { notCallable } from '../refusal.ts'
import type { Current } from './exchange.ts'

const largest = 10 * 1024 * 1024
/** What is read at once holds up everybody: an output of 1 MiB, as data and again as text, and what is around it. */
export const largestMessage = 3 * 1024 * 1024

/**
 * The fetch of the SDK's transports. Each request bears the headers of its call, beside those of the protocol, ends with
 * it, and leaves behind what it failed by. Throws Failure.
 */
export function createExchangeFetch(open: Open, current: Current, clock: Clock): typeof globalThis.fetch {
  const told: Open = async (request) => {
    const exchange = current.getStore()
    if (!exchange) throw new Failure('internal', 'A request belongs to no call.')
    const note = (failure: Failure) => {
      exchange.failure = failure
      return failure
    }
    exchange.failure = undefined
    exchange.refused = undefined
    try {
      const answer = await open({
        ...request,
        headers: { ...exchange.headers, ...request.headers },
        signal: AbortSignal.any([request.signal, exchange.signal]),
      })
      const { status, headers } = answer
      exchange.status = status
      if (status >= 300) {
        const seconds = retryAfter(headers['retry-after'], clock())
        exchange.refused = { status, ...(seconds !== undefined && { retry_after_s: seconds }) }
      }
      return { ...answer, explain: (error) => note(answer.explain(error)) }
    } catch (error) {
      throw note(notCallable(Failure.from(error)))
    }
  }
  return createWebFetch(told, {
    max_bytes: largest,
    max_message_bytes: largestMessage,
    max_message_values: mostValues,
  })
}

/**
 * The same, for Streamable HTTP: the standing stream of a session is not asked for, which would hold a connection for
 * each caller; a stream that broke off is asked for again where it broke off.
 */
export function withoutStandingStream(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const isStanding = init?.method === 'GET' && !new Headers(init.headers).has('last-event-id')
    return isStanding ? new Response(null, { status: 405 }) : fetch(input, init)
  }
}
