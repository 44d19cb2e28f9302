import type { IncomingMessage, ServerResponse } from 'node:http'
import { codes } from '../../../../schemas/failure.ts'
import { failureHeaders, send } from '../../http/respond.ts'
import { corsHeaders } from '../../http/rest.ts'
import { failureOf, type TransportContext } from '../../shared/transport-context.ts'

const errorCodes: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  404: 'NOT_FOUND',
  429: 'RATE_LIMIT_EXCEEDED',
}

/** Sends an error of ARD 0.91: `{errorCode, message}` under the status of the failure. */
export function refuse(
  context: Pick<TransportContext, 'site' | 'onError'>,
  request: IncomingMessage,
  response: ServerResponse,
  thrown: unknown,
  id: string,
): void {
  const failure = failureOf(context, thrown)
  const status = codes[failure.code].http
  const errorCode = errorCodes[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL_ERROR')
  const { hint } = failure.details
  const message = hint ? `${failure.message} ${hint}` : failure.message
  send(request, response, status, JSON.stringify({ errorCode, message }), {
    ...corsHeaders,
    ...failureHeaders(context, request, failure, id),
    'Content-Type': 'application/json',
  })
}
