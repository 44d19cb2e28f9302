import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Echo, type Envelope, echoOf } from '../../../schemas/envelope.ts'
import { Failure } from '../../../schemas/failure.ts'
import { isRecord } from '../../../schemas/json.ts'
import type { Mount } from '../http/app.ts'
import { readJsonBody } from '../http/body.ts'
import { checkedCaller, identify } from '../http/caller.ts'
import { bodySender } from '../http/coded.ts'
import { deprecationHeaders } from '../http/deprecation.ts'
import { answerAsEvents, wantsEvents } from '../http/event-answer.ts'
import { requestId } from '../http/request-id.ts'
import { allowanceHeaders, type Headers, markHeaders, sendFailure } from '../http/respond.ts'
import { signalOf } from '../http/rest.ts'
import { clientOf } from '../shared/client-address.ts'
import { type AllowsOrigin, assertOrigin } from '../shared/origins.ts'
import { toPayload } from '../shared/stringify.ts'
import { failureOf, type TransportContext } from '../shared/transport-context.ts'

/** `POST /a2a/message`: the body is the envelope, the answer is the action's output; `ending` ends streams. */
export function envelopeMount(
  context: TransportContext,
  allowsOrigin: AllowsOrigin,
  ending: AbortSignal,
): Mount {
  async function handler(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = requestId(request)
    let echo: Headers = {}
    try {
      assertOrigin(request, allowsOrigin)
      const envelope = await readJsonBody(request, await identify(context, request))
      echo = echoHeaders(echoOf(envelope))
      const principal = await checkedCaller(context, request)
      if (!isRecord(envelope))
        throw new Failure('invalid_request', 'The body is not an envelope {to, action, params}.')
      const client = clientOf(context, request)
      const call = { principal, signal: signalOf(response), id, client }
      if (wantsEvents(request)) {
        const headers = { ...echo, 'X-Request-Id': id }
        await answerAsEvents({ context, response, headers, ending }, envelope as Envelope, call)
        return
      }
      const { output, action, allowance, mark, deprecated } = await context.dispatch(
        envelope as Envelope,
        call,
      )
      const headers = {
        ...echo,
        ...allowanceHeaders(allowance),
        ...markHeaders(mark),
        ...deprecationHeaders(context, deprecated),
        'X-Request-Id': id,
        'Content-Type': 'application/json',
      }
      const sendBody = bodySender(context, { principal, client }, action.secret)
      await sendBody(request, response, 200, toPayload(output), headers)
    } catch (thrown) {
      sendFailure(context, request, response, failureOf(context, thrown), id, echo)
    }
  }
  const path = '/a2a/message'
  return { method: 'post', path, handler, direct: path }
}

/** The body is only the action's output, so the sender's own ids return in headers. */
function echoHeaders({ message_id, reply_to }: Echo): Headers {
  return {
    ...(message_id !== undefined && { 'X-Message-Id': message_id }),
    ...(reply_to !== undefined && { 'X-Reply-To': reply_to }),
  }
}
