import { z } from 'zod'
import { Failure } from '../../../schemas/failure.ts'
import { input } from '../../../schemas/shape.ts'

/** The method that cancels a request of the same socket. */
export const cancelMethod = 'rpc.cancel'

const requestId = z.union([z.string(), z.number(), z.null()], {
  error: 'Give the id of the request to cancel.',
})
/** Its params. */
export const cancelParams = input(z.strictObject({ id: requestId }))

/** The running requests of one socket. */
interface Running {
  /** Adds a request; its signal aborts when it is cancelled or the socket closes. Disposing removes it. */
  begin(id: unknown): { readonly signal: AbortSignal } & Disposable
  /** Cancels all requests with this id; false if there is none. */
  cancel(id: unknown): boolean
}

/** `socket` aborts when the socket has closed. */
export function createRunning(socket: AbortSignal): Running {
  const running = new Map<unknown, Set<AbortController>>()
  const endAll = () => {
    for (const same of running.values()) for (const controller of same) controller.abort(socket.reason)
  }
  // One listener for all requests: combining two signals for each request would cost more than the request.
  socket.addEventListener('abort', endAll, { once: true })
  return {
    begin(id) {
      const controller = new AbortController()
      const same = running.get(id) ?? new Set()
      running.set(id, same.add(controller))
      return {
        signal: controller.signal,
        [Symbol.dispose]() {
          same.delete(controller)
          if (same.size === 0) running.delete(id)
        },
      }
    },
    cancel(id) {
      // A notification and a batch have no id, so nobody can cancel them.
      const same = id === undefined ? undefined : running.get(id)
      for (const controller of same ?? []) {
        controller.abort(new Failure('cancelled', 'The caller cancelled the request.'))
      }
      return same !== undefined
    },
  }
}
