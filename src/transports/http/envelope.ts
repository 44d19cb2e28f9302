import type { Envelope } from '../../../schemas/envelope.ts'
import { Failure } from '../../../schemas/failure.ts'
import { isRecord } from '../../../schemas/json.ts'
import { clientOf } from '../client.ts'
import { authenticated, type Door, failureOf } from '../door.ts'
import { toPayload } from '../stringify.ts'
import { readJsonBody } from './body.ts'
import { requestId } from './identity.ts'
import { allowanceHeaders, send, sendFailure } from './respond.ts'
import { type Handler, signalOf } from './rest.ts'

/** `POST /a2a/message`: the body is the envelope, the answer the action's output. */
export function serveEnvelope(door: Door): Handler {
  return async (request, response) => {
    const id = requestId(request)
    try {
      const { authorization } = request.headers
      await authenticated(door, authorization)
      const envelope = await readJsonBody(request)
      const principal = await authenticated(door, authorization)
      if (!isRecord(envelope))
        throw new Failure('invalid_request', 'The body is not an envelope {to, action, params}.')
      const client = clientOf(door, request)
      const call = { principal, signal: signalOf(response), id, client }
      const { output, allowance } = await door.dispatch(envelope as Envelope, call)
      const headers = {
        ...allowanceHeaders(allowance),
        'X-Request-Id': id,
        'Content-Type': 'application/json',
      }
      send(request, response, 200, toPayload(output), headers)
    } catch (thrown) {
      sendFailure(door, request, response, failureOf(door, thrown), id)
    }
  }
}
