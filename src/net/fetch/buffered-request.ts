import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import { ByteBuffer, yieldBytes } from './byte-buffer.ts'
import { limitErrorBody } from './error-body-timeout.ts'

interface BufferedAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** As received, with its content coding. */
  readonly body: Uint8Array
}

interface BufferedRequestOptions {
  readonly signal: AbortSignal
  readonly max_bytes: number
  /**
   * Called with the head of the answer; returns whether to read its body. An error that it throws ends the exchange.
   */
  readonly readsBody: (status: number, headers: IncomingHttpHeaders) => boolean
  /** Makes the error for a body of more than `max_bytes`. */
  readonly tooLarge: () => Error
}

const emptyBody = new Uint8Array()

/** Sends a request by undici and buffers the whole answer: a stream would cost twice the CPU (bench/forward). */
export function sendBuffered(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  { signal, max_bytes, readsBody, tooLarge }: BufferedRequestOptions,
): Promise<BufferedAnswer> {
  return new Promise((resolve, reject) => {
    const collected = new ByteBuffer()
    let controller: Dispatcher.DispatchController | undefined
    let head: Omit<BufferedAnswer, 'body'> | undefined
    let cut: Disposable | undefined
    let isFinished = false
    let sinceYield = 0

    function finish(): void {
      isFinished = true
      cut?.[Symbol.dispose]()
      signal.removeEventListener('abort', abort)
    }

    /** Settles early; the rest of the answer is not read. */
    function stop(settle: () => void, reason: Error): void {
      if (isFinished) return
      finish()
      settle()
      controller?.abort(reason)
    }

    function yieldTurn(): void {
      sinceYield = 0
      controller?.pause()
      setImmediate(() => controller?.resume())
    }

    const fail = (error: Error) => stop(() => reject(error), error)
    const abort = () => fail(signal.reason)

    if (signal.aborted) return reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    dispatcher.dispatch(request, {
      onRequestStart(started) {
        controller = started
        if (isFinished) started.abort(new Error('The request is over.'))
      },
      onResponseStart(_, status, headers) {
        if (status < 200 || isFinished) return
        const received = { status, headers }
        head = received
        const enough = () =>
          stop(() => resolve({ ...received, body: emptyBody }), new Error('The rest is not read.'))
        try {
          if (!readsBody(status, headers)) enough()
          else cut = limitErrorBody(status, enough)
        } catch (error) {
          fail(error as Error)
        }
      },
      onResponseData(_, chunk) {
        if (isFinished) return
        if (collected.length + chunk.length > max_bytes) return fail(tooLarge())
        collected.add(chunk)
        sinceYield += chunk.length
        if (sinceYield > yieldBytes) yieldTurn()
      },
      onResponseEnd() {
        if (isFinished || !head) return
        finish()
        resolve({ ...head, body: collected.bytes() })
      },
      onResponseError(_, error) {
        if (isFinished) return
        finish()
        reject(error)
      },
    })
  })
}
