import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import { createCollected } from './byte-buffer.ts'
import { cutExplanation } from './error-body-timeout.ts'
import { turnBytes } from './yield-size.ts'

export interface Gathered {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** As it was sent, with its content coding. */
  readonly body: Uint8Array
}

export interface GatherOptions {
  readonly signal: AbortSignal
  readonly max_bytes: number
  /** Called with the head of the answer: whether its body is wanted. What it throws ends the exchange. */
  readonly wants: (status: number, headers: IncomingHttpHeaders) => boolean
  /** What is thrown for a body of more than `max_bytes`. */
  readonly tooLarge: () => Error
}

const nothing = new Uint8Array()

/** One exchange of undici with the whole of its answer: a stream between would cost as much again. */
export function gather(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  { signal, max_bytes, wants, tooLarge }: GatherOptions,
): Promise<Gathered> {
  return new Promise((resolve, reject) => {
    const collected = createCollected()
    let controller: Dispatcher.DispatchController | undefined
    let head: Omit<Gathered, 'body'> | undefined
    let cut: Disposable | undefined
    let isOver = false
    let inTurn = 0

    function over(): void {
      isOver = true
      cut?.[Symbol.dispose]()
      signal.removeEventListener('abort', abort)
    }

    /** Settles before the rest is there, which is not read. */
    function leave(settle: () => void, reason: Error): void {
      if (isOver) return
      over()
      settle()
      controller?.abort(reason)
    }

    function giveTurn(): void {
      inTurn = 0
      controller?.pause()
      setImmediate(() => controller?.resume())
    }

    const fail = (error: Error) => leave(() => reject(error), error)
    const abort = () => fail(signal.reason)

    if (signal.aborted) return reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    dispatcher.dispatch(request, {
      onRequestStart(started) {
        controller = started
        if (isOver) started.abort(new Error('Nobody waits for it.'))
      },
      onResponseStart(_, status, headers) {
        if (status < 200 || isOver) return
        const told = { status, headers }
        head = told
        const enough = () =>
          leave(() => resolve({ ...told, body: nothing }), new Error('The rest is not read.'))
        try {
          if (!wants(status, headers)) enough()
          else cut = cutExplanation(status, enough)
        } catch (error) {
          fail(error as Error)
        }
      },
      onResponseData(_, chunk) {
        if (isOver) return
        if (collected.length + chunk.length > max_bytes) return fail(tooLarge())
        collected.add(chunk)
        inTurn += chunk.length
        if (inTurn > turnBytes) giveTurn()
      },
      onResponseEnd() {
        if (isOver || !head) return
        over()
        resolve({ ...head, body: collected.bytes() })
      },
      onResponseError(_, error) {
        if (isOver) return
        over()
        reject(error)
      },
    })
  })
}
