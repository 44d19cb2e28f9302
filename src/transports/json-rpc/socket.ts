import { randomUUID } from 'node:crypto'
import { Failure } from '../../../schemas/failure.ts'
import type { Principal } from '../../../schemas/scope.ts'
import type { Door } from '../door.ts'
import type { SocketDoor } from '../websocket/upgrade.ts'
import { createJsonRpc } from './json-rpc.ts'

/**
 * `ws://…/rpc`: one text frame is one JSON-RPC message. To a subscription notifications come before its answer, which
 * comes when `ending` ends it.
 */
export function jsonRpcSocket(door: Door, version: string, ending: AbortSignal): SocketDoor {
  const answer = createJsonRpc(door, version, randomUUID)
  return {
    path: '/rpc',
    subprotocol: 'jsonrpc',
    required: false,
    open(connection) {
      const { client, signal } = connection
      async function identify(): Promise<Principal | null> {
        const principal = await connection.identify()
        if (principal === undefined) throw new Failure('unauthenticated', 'The token no longer holds.')
        return principal
      }
      connection.read((text) => ({
        async run() {
          const body = await answer(text, { identify, client, signal, ending, notify: connection.send })
          if (body !== undefined) await connection.send(body)
        },
      }))
    },
  }
}
