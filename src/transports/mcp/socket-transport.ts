import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server'
import type { Connection } from '../websocket/connection.ts'
import { createAsked, isRequest } from './asked.ts'
import { type Frame, readFrame, repeated } from './frame.ts'

/** An SDK transport over a socket. A request holds its place in flight until its answer has gone out. */
export function transportOver(connection: Connection): Transport {
  const asked = createAsked()

  async function receive(frame: Frame): Promise<void> {
    if ('refusal' in frame) return await write(frame.refusal)
    const { message } = frame
    if (asked.repeats(message)) return await write(repeated(message))
    const answered = asked.received(message)
    transport.onmessage?.(message)
    await answered
  }

  async function write(message: JSONRPCMessage): Promise<void> {
    await connection.send(JSON.stringify(message))
  }

  const transport: Transport = {
    async start() {
      connection.onClose(() => {
        asked.clear()
        transport.onclose?.()
      })
      connection.read((text) => {
        const frame = readFrame(text)
        return { urgent: 'message' in frame && !isRequest(frame.message), run: () => receive(frame) }
      })
    },
    async send(message) {
      await write(message)
      asked.sent(message)
    },
    async close() {
      connection.close(1000, '')
    },
  }
  return transport
}
