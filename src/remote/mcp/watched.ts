import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { Failure } from '../../../schemas/failure.ts'
import { isRecord } from '../../../schemas/json.ts'
import { abortable } from '../../common/abort.ts'
import { afterwards, type Current, type Exchange } from './exchange.ts'

type Id = string | number

/**
 * A transport of which every request is answered or fails: the SDK leaves one waiting whose stream ends, breaks or
 * holds answers to something else. A fragile one ends with its first error. What is sent is sent in the name of a call, and its stream ends with that call.
 */
export function watch(inner: Transport, current: Current, isFragile: boolean): Transport {
  const pending = new Map<Id, Exchange>()
  let highest = -1

  function fail(id: Id, failure: Failure): void {
    if (!pending.delete(id)) return
    // Nobody else can put a Failure there: what comes over the wire is JSON.
    const error = { code: -32603, message: failure.message, data: failure }
    outer.onmessage?.({ jsonrpc: '2.0', id, error })
  }

  function failAll(failure: Failure): void {
    for (const id of [...pending.keys()]) fail(id, failure)
  }

  function receive(message: JSONRPCMessage): void {
    if ('method' in message) {
      outer.onmessage?.(message)
      return
    }
    const { id } = message
    if (id !== undefined && pending.delete(id)) {
      // The SDK hands progress on a moment later than answers, which end it.
      queueMicrotask(() => outer.onmessage?.(message))
      return
    }
    const isLate = typeof id === 'number' && id <= highest
    if (!isLate) failAll(invalid('It answered something that was not asked.'))
  }

  async function request(message: object, id: Id, options: object | undefined): Promise<void> {
    const exchange = current.getStore()
    if (!exchange) throw new Failure('internal', 'A request belongs to no call.')
    pending.set(id, exchange)
    // The SDK's first question, of what is spoken, knows no signal.
    exchange.signal.addEventListener('abort', () => fail(id, invalid('The call is over.')), { once: true })
    if (typeof id === 'number') highest = Math.max(highest, id)
    const asked =
      isRecord(options) && options.requestSignal instanceof AbortSignal ? options.requestSignal : undefined
    try {
      await inner.send(message as JSONRPCMessage, {
        ...options,
        requestSignal: asked ? AbortSignal.any([asked, exchange.signal]) : exchange.signal,
        onRequestStreamEnd: () =>
          fail(id, exchange.failure ?? invalid('The stream ended without the answer.')),
      })
      if (inner.hasPerRequestStream && exchange.status === 202)
        fail(id, invalid('It took the request without answering it.'))
    } catch (error) {
      pending.delete(id)
      throw error
    }
  }

  const outer: Transport = {
    ...(inner.hasPerRequestStream !== undefined && { hasPerRequestStream: inner.hasPerRequestStream }),
    get sessionId() {
      return inner.sessionId
    },
    setProtocolVersion: (version) => inner.setProtocolVersion?.(version),
    async start() {
      inner.onmessage = receive
      inner.onerror = (error) => {
        if (isNonsense(error)) failAll(invalid('It sent something that is no message.'))
        outer.onerror?.(error)
        // The SDK's event source would open its stream again, and wait for answers that went to the old one.
        if (isFragile) void inner.close()
      }
      inner.onclose = () => outer.onclose?.()
      const starting = inner.start()
      const signal = current.getStore()?.signal
      await (signal ? abortable(starting, signal) : starting)
    },
    async send(message, options) {
      if ('method' in message && 'id' in message) return request(message, message.id, options)
      const { headers = {}, signal } = current.getStore() ?? {}
      if (signal && !signal.aborted) return inner.send(message, options)
      await afterwards(current, headers, () => inner.send(message, options))
    },
    close: () => inner.close(),
  }
  return outer
}

function isNonsense({ name }: Error): boolean {
  return name === 'SyntaxError' || name.endsWith('ZodError')
}

function invalid(detail: string): Failure {
  return new Failure('upstream_invalid', detail)
}
