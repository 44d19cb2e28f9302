import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server'
import { Failure } from '../../../schemas/failure.ts'
import type { Asked } from './asked.ts'
import { assertPlainMessage } from './depth.ts'
import { refusal, repeated } from './frame.ts'

/** The same transport, its requests and answers noted; `closed` resolves when it has closed. */
export function counted(wire: Transport, asked: Asked): { transport: Transport; closed: Promise<void> } {
  const { promise: closed, resolve } = Promise.withResolvers<void>()

  const transport: Transport = {
    async start() {
      wire.onmessage = (message) => {
        const refused = refuse(message)
        if (refused) return void wire.send(refused).catch((fault) => transport.onerror?.(fault))
        void asked.received(message)
        transport.onmessage?.(message)
      }
      wire.onerror = (fault) => transport.onerror?.(fault)
      wire.onclose = () => {
        asked.clear()
        transport.onclose?.()
        resolve()
      }
      await wire.start()
    },
    async send(message) {
      await wire.send(message)
      asked.sent(message)
    },
    close: () => wire.close(),
  }

  function refuse(message: JSONRPCMessage): JSONRPCMessage | undefined {
    if (asked.repeats(message)) return repeated(message)
    try {
      assertPlainMessage(message)
      return undefined
    } catch (thrown) {
      return refusal(Failure.from(thrown), message)
    }
  }
  return { transport, closed }
}
