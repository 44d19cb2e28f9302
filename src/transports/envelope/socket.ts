import { randomUUID } from 'node:crypto'
import { type Envelope, echoOf } from '../../../schemas/envelope.ts'
import { Failure, problem } from '../../../schemas/failure.ts'
import { isRecord } from '../../../schemas/json.ts'
import { readMessage } from '../shared/message.ts'
import { stringify } from '../shared/stringify.ts'
import { failureOf, type TransportContext } from '../shared/transport-context.ts'
import type { Connection } from '../websocket/connection.ts'
import type { SocketEndpoint } from '../websocket/upgrade.ts'

/**
 * `ws://…/a2a/message`: each text frame is one envelope and gets one answer with `output` or `error`, and with the
 * envelope's `message_id` and `reply_to`; beside an output from a third party is its mark. An envelope with a
 * `message_id` may get frames with `update` first. `ending` ends streams.
 */
export function envelopeSocket(context: TransportContext, ending: AbortSignal): SocketEndpoint {
  async function answer(text: string, connection: Connection): Promise<void> {
    const id = randomUUID()
    const envelope = readMessage(text, connection.messageLimits)
    const echo = echoOf(envelope)
    const reply = (member: string, json: string) => connection.send(frame(echo, member, json))
    try {
      if (envelope instanceof Failure) throw envelope
      if (!isRecord(envelope)) throw new Failure('invalid_request', 'The frame is not an envelope in JSON.')
      const failure = connection.overCost()
      if (failure) throw failure
      const principal = await connection.identify()
      if (principal === undefined) return
      const { client, signal } = connection
      const call = {
        principal,
        client,
        signal,
        id,
        ending,
        ...(echo.message_id !== undefined && {
          emit: (update: object) => reply('update', JSON.stringify(update)),
        }),
      }
      const { output, mark } = await context.dispatch(envelope as Envelope, call)
      await connection.send(frame({ ...echo, ...mark }, 'output', stringify(output)))
    } catch (thrown) {
      await reply('error', JSON.stringify(problem(failureOf(context, thrown), id)))
    }
  }

  return {
    path: '/a2a/message',
    subprotocol: 'envelope',
    open(connection) {
      connection.read((text) => ({ run: () => answer(text, connection) }))
    },
  }
}

function frame(echo: object, member: string, json: string): string {
  const head = JSON.stringify(echo).slice(1, -1)
  return `{${head}${head === '' ? '' : ','}"${member}":${json}}`
}
