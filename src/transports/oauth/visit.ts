import { codes } from '../../../schemas/failure.ts'
import type { Page } from '../../auth/authorization-server/pages.ts'
import type { Mount } from '../http/app.ts'
import { retryHeaders, send } from '../http/respond.ts'
import { clientOf } from '../shared/client-address.ts'
import { failureOf, type TransportContext } from '../shared/transport-context.ts'
import type { PageAnswer, PageExchange } from './exchange.ts'
import { protocolPages } from './pages.ts'

/** Makes the mounts of pages that browsers visit: a refusal is a page too. `count` may throw Failure `rate_limited`. */
export function visitMount(context: TransportContext, count: (client: string) => void) {
  return (method: 'get' | 'post', path: string, answer: PageAnswer): Mount => ({
    method,
    path,
    async handler(request, response) {
      const exchange = { request, response }
      try {
        count(clientOf(context, request).address)
        show(exchange, await answer(exchange))
      } catch (thrown) {
        showRefusal(context, exchange, thrown)
      }
    },
  })
}

/** A refusal as a page: what was wrong, what to do, and when it may be asked again. */
export function showRefusal(
  context: Pick<TransportContext, 'onError'>,
  { request, response }: PageExchange,
  thrown: unknown,
): void {
  const { code, message, details } = failureOf(context, thrown)
  const { html, headers } = protocolPages.error([message, details.hint].filter(Boolean).join(' '))
  send(request, response, codes[code].http, html, { ...headers, ...retryHeaders(details) })
}

function show({ request, response }: PageExchange, answer: Page | { location: string }): void {
  if ('location' in answer) {
    send(request, response, 303, '', { Location: answer.location, 'Cache-Control': 'no-store' })
    return
  }
  send(request, response, 200, answer.html, answer.headers)
}
