import { randomUUID } from 'node:crypto'
import type { ContentMark } from '../../../schemas/content-mark.ts'
import type { Reply } from '../../router/call.ts'
import type { Mount } from '../http/app.ts'
import { readBody } from '../http/body.ts'
import { identify } from '../http/caller.ts'
import { bodySender } from '../http/coded.ts'
import { requestId } from '../http/request-id.ts'
import { markHeaders, send } from '../http/respond.ts'
import { signalOf } from '../http/rest.ts'
import { clientOf } from '../shared/client-address.ts'
import { messageLimits, readMessage } from '../shared/message.ts'
import { type AllowsOrigin, assertOrigin } from '../shared/origins.ts'
import type { TransportContext } from '../shared/transport-context.ts'
import { createJsonRpc } from './json-rpc.ts'
import { refuseRequest } from './refuse.ts'

/**
 * `POST /rpc`. Errors of the HTTP request as a whole (token, size, type) have their HTTP status and a JSON-RPC
 * error as body; all other answers are 200, or 204 for notifications only. The headers have the mark of results from
 * third parties.
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
        const principal = await identify(context, request)
        const message = readMessage(await readBody(request, principal), messageLimits(principal))
        const replies: Reply[] = []
        const client = clientOf(context, request)
        const caller = {
          replied: (reply: Reply) => void replies.push(reply),
          client,
          signal: signalOf(response),
          identify: () => identify(context, request),
        }
        const body = await answer(message, caller)
        if (body === undefined) return send(request, response, 204, '', { 'X-Request-Id': id })
        const isSecret = replies.some(({ action }) => action.secret)
        const sendBody = bodySender(context, { principal, client }, isSecret)
        await sendBody(request, response, 200, body, { ...headers, ...markHeaders(markOfAll(replies)) })
      } catch (thrown) {
        refuseRequest(context, request, response, thrown, id)
      }
    },
  }
}

/** Of the marks of one answer, one with flags if there is any. */
function markOfAll(replies: readonly Reply[]): ContentMark | undefined {
  const marks = replies.flatMap(({ mark }) => mark ?? [])
  return marks.find(({ content_flags }) => content_flags) ?? marks[0]
}
