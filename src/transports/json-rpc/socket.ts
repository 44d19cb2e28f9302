import { randomUUID } from 'node:crypto'
import { Failure } from '../../../schemas/failure.ts'
import { isRecord } from '../../../schemas/json.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { readMessage } from '../shared/message.ts'
import type { TransportContext } from '../shared/transport-context.ts'
import type { SocketEndpoint } from '../websocket/upgrade.ts'
import { cancelMethod, createRunning } from './in-flight.ts'
import { createJsonRpc } from './json-rpc.ts'

/**
 * `ws://…/rpc`: each text frame is one JSON-RPC message. A subscription sends notifications before its answer,
 * which comes when `ending` aborts or the caller sends `rpc.cancel`. `rpc.cancel` overtakes queued requests.
 */
export function jsonRpcSocket(
  context: TransportContext,
  version: string,
  ending: AbortSignal,
): SocketEndpoint {
  const answer = createJsonRpc(context, version, randomUUID)
  return {
    path: '/rpc',
    subprotocol: 'jsonrpc',
    open(connection) {
      const { client, signal } = connection
      async function identify(): Promise<Principal | null> {
        const failure = connection.overCost()
        if (failure) throw failure
        const principal = await connection.identify()
        if (principal === undefined) throw new Failure('unauthenticated', 'The token is no longer valid.')
        return principal
      }
      const running = createRunning(signal)
      const caller = {
        identify,
        client,
        ending,
        cancel: running.cancel,
        notify: (text: string) => connection.send(text),
      }
      connection.read((text) => {
        const message = readMessage(text, connection.messageLimits)
        const { id, method } = isRecord(message) ? message : {}
        const begun = running.begin(id)
        return {
          // A cancellation with an id is queued: its answers could pile up for a peer that does not read.
          urgent: method === cancelMethod && id === undefined,
          async run() {
            using request = begun
            const body = await answer(message, { ...caller, signal: request.signal })
            if (body !== undefined) await connection.send(body)
          },
        }
      })
    },
  }
}
