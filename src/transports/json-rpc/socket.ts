import { randomUUID } from 'node:crypto'
import type { Door } from '../door.ts'
import type { SocketDoor } from '../websocket/upgrade.ts'
import { createJsonRpc } from './json-rpc.ts'

/** `ws://…/rpc`: one text frame is one JSON-RPC message. */
export function jsonRpcSocket(door: Door): SocketDoor {
  const answer = createJsonRpc(door, randomUUID)
  return {
    path: '/rpc',
    subprotocol: 'jsonrpc',
    required: false,
    open(connection) {
      const { client, signal } = connection
      connection.read((text) => ({
        async run() {
          const principal = await connection.identify()
          if (principal === undefined) return
          const body = await answer(text, { principal, client, signal })
          if (body !== undefined) await connection.send(body)
        },
      }))
    },
  }
}
