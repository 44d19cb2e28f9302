import { randomUUID } from 'node:crypto'
import type { Mount } from '../http/app.ts'
import { readBody } from '../http/body.ts'
import { requestId } from '../http/request-id.ts'
import { send } from '../http/respond.ts'
import { signalOf } from '../http/rest.ts'
import { clientOf } from '../shared/client-address.ts'
import { type AllowsOrigin, assertOrigin } from '../shared/origins.ts'
import { authenticated, type TransportContext } from '../shared/transport-context.ts'
import { createJsonRpc, readMessage } from './json-rpc.ts'
import { refuseRequest } from './refuse.ts'

/**
 * `POST /rpc`. Errors of the HTTP request as a whole (token, size, type) have their HTTP status and a JSON-RPC
 * error as body; all other answers are 200, or 204 for notifications only.
 */
export function jsonRpcMount(context: TransportContext, version: string, allowsOrigin: AllowsOrigin): Mount {
  const answer = createJsonRpc(context, version, randomUUID)
  return {
    method: 'post',
    path: '/rpc',
    direct: '/rpc',
    async handler(request, response) {
      const id = requestId(request)
      const headers = { 'X-Request-Id': id, 'Content-Type': 'application/json' }
      try {
        assertOrigin(request, allowsOrigin)
        const { authorization } = request.headers
        await authenticated(context, authorization)
        const text = (await readBody(request)).toString('utf8')
        const caller = {
          client: clientOf(context, request),
          signal: signalOf(response),
          identify: () => authenticated(context, authorization),
        }
        const body = await answer(readMessage(text), caller)
        if (body === undefined) send(request, response, 204, '', { 'X-Request-Id': id })
        else send(request, response, 200, body, headers)
      } catch (thrown) {
        refuseRequest(context, request, response, thrown, id)
      }
    },
  }
}
