import { Failure } from '../../../schemas/failure.ts'

/** The method by which a caller ends a request of their own on the same socket: `params {id}`. */
export const cancelMethod = 'rpc.cancel'

/** The requests that one socket waits for. */
export interface Running {
  /** Notes a request; the signal aborts when it is cancelled or the socket ends. Disposing it says that it is over. */
  begin(id: unknown): { readonly signal: AbortSignal } & Disposable
  /** Ends all requests under this id; whether there was one. */
  cancel(id: unknown): boolean
}

/** `socket` aborts when it has closed. */
export function createRunning(socket: AbortSignal): Running {
  const running = new Map<unknown, Set<AbortController>>()
  const endAll = () => {
    for (const same of running.values()) for (const controller of same) controller.abort(socket.reason)
  }
  // One listener for all: a signal made of two for each request would cost more than the request.
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
      // What has no id is a notification or a batch, which nobody can name.
      const same = id === undefined ? undefined : running.get(id)
      for (const controller of same ?? []) {
        controller.abort(new Failure('cancelled', 'The caller cancelled the request.'))
      }
      return same !== undefined
    },
  }
}
