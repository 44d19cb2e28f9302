import { Failure } from '../../../schemas/failure.ts'
import type { Clock } from '../../common/clock.ts'
import { retryAfter } from '../../common/retry-after.ts'
import type { Open } from '../../net/fetch/fetch.ts'
import { createWebFetch } from '../../net/fetch/web-fetch.ts'
import { maxValues } from '../check-output.ts'
import { notCallable } from '../refusal.ts'
import type { Current } from './exchange.ts'

const maxBytes = 10 * 1024 * 1024
/**
 * A message is parsed in one step, which blocks the event loop. The limit allows an output of 1 MiB as data and again
 * as text.
 */
export const maxMessageBytes = 3 * 1024 * 1024

/**
 * The fetch of the SDK's transports. Each request carries the headers of its call in addition to those of the
 * protocol, aborts with the call, and records its outcome in the exchange. Throws Failure.
 */
export function createExchangeFetch(open: Open, current: Current, clock: Clock): typeof globalThis.fetch {
  const exchangeOpen: Open = async (request) => {
    const exchange = current.getStore()
    if (!exchange) throw new Failure('internal', 'A request belongs to no call.')
    const record = (failure: Failure) => {
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
        exchange.refused = {
          status,
          challenge: headers['www-authenticate'],
          ...(seconds !== undefined && { retry_after_s: seconds }),
        }
      }
      return { ...answer, explain: (error) => record(answer.explain(error)) }
    } catch (error) {
      throw record(notCallable(Failure.from(error)))
    }
  }
  return createWebFetch(exchangeOpen, {
    max_bytes: maxBytes,
    max_message_bytes: maxMessageBytes,
    max_message_values: maxValues,
  })
}

/**
 * For Streamable HTTP: answers 405 for the listening stream (GET) of a session, which would hold a connection per
 * caller. A GET that resumes a broken stream (`Last-Event-ID`) passes.
 */
export function withoutListeningStream(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const isListening = init?.method === 'GET' && !new Headers(init.headers).has('last-event-id')
    return isListening ? new Response(null, { status: 405 }) : fetch(input, init)
  }
}
