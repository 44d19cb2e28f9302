import {
  type CancelledNotification,
  isSpecType,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type RequestId,
  SUBSCRIPTION_ID_META_KEY,
} from '@modelcontextprotocol/server'

/** The requests of one connection that wait for their answer. */
export interface Asked {
  /** Whether a request has the id of one that waits. */
  repeats(message: JSONRPCMessage): boolean
  /**
   * Notes what came in. For a request, resolves once it is answered, or cancelled: MCP answers no cancelled
   * request.
   */
  received(message: JSONRPCMessage): Promise<void>
  /** Notes what has gone out. */
  sent(message: JSONRPCMessage): void
  /** Resolves once nothing waits. */
  idle(): Promise<void>
  /** Nothing will be answered any more. */
  clear(): void
}

export function createAsked(): Asked {
  const waiting = new Map<unknown, () => void>()
  let idle: (() => void) | undefined

  function settle(id: unknown): void {
    waiting.get(id)?.()
    waiting.delete(id)
    if (waiting.size === 0) idle?.()
  }

  return {
    repeats: (message) => isRequest(message) && waiting.has(message.id),
    received(message) {
      if (isRequest(message)) return new Promise((resolve) => void waiting.set(message.id, resolve))
      if (isCancellation(message)) settle(message.params.requestId)
      return Promise.resolve()
    },
    sent(message) {
      settle(answeredBy(message))
    },
    idle() {
      return new Promise((resolve) => {
        idle = resolve
        if (waiting.size === 0) resolve()
      })
    },
    clear() {
      for (const id of [...waiting.keys()]) settle(id)
    },
  }
}

export function isRequest(message: JSONRPCMessage): message is JSONRPCRequest {
  return 'method' in message && 'id' in message
}

/** One that the SDK heeds: a malformed one ends nothing. */
function isCancellation(message: JSONRPCMessage): message is JSONRPCMessage & CancelledNotification {
  return (
    'method' in message &&
    message.method === 'notifications/cancelled' &&
    isSpecType.CancelledNotification(message)
  )
}

/** A subscription is answered by its acknowledgement; its result comes only with its end. */
function answeredBy(message: JSONRPCMessage): RequestId | undefined {
  if (!('method' in message)) return message.id
  if (message.method !== 'notifications/subscriptions/acknowledged') return undefined
  return message.params?._meta?.[SUBSCRIPTION_ID_META_KEY] as RequestId | undefined
}
