import type { IncomingMessage, ServerResponse } from 'node:http'
import { codes } from '../../../schemas/failure.ts'
import { failureHeaders, send } from '../http/respond.ts'
import { failureOf, type TransportContext } from '../shared/transport-context.ts'
import { errorFrame } from './frames.ts'

/** Refuses an HTTP request as a whole: the failure's status, with a JSON-RPC error as body. */
export function refuseRequest(
  context: TransportContext,
  request: IncomingMessage,
  response: ServerResponse,
  thrown: unknown,
  id: string,
): void {
  const failure = failureOf(context, thrown)
  const headers = { ...failureHeaders(context, request, failure, id), 'Content-Type': 'application/json' }
  send(request, response, codes[failure.code].http, errorFrame(failure, id, null), headers)
}
