/** A signal that aborts with the first of several, and by itself when told to. Disposing lets go of the others. */
export interface Link extends Disposable {
  readonly signal: AbortSignal
  abort(reason: unknown): void
}

/** Links signals into one. */
export function link(...signals: readonly AbortSignal[]): Link {
  const controller = new AbortController()
  const follows = signals.map((signal) => ({ signal, follow: () => controller.abort(signal.reason) }))
  for (const { signal, follow } of follows) {
    if (signal.aborted) follow()
    signal.addEventListener('abort', follow, { once: true })
  }
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    [Symbol.dispose]() {
      for (const { signal, follow } of follows) signal.removeEventListener('abort', follow)
    },
  }
}

/** Settles as the promise does, or rejects at once with the signal's reason; the promise is then left to itself. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
