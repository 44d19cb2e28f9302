/** A signal that aborts with the first of several signals, or by `abort`. Disposing removes the listeners. */
export interface LinkedSignal extends Disposable {
  readonly signal: AbortSignal
  /** Uses an AbortError if no reason is given. */
  abort(reason?: unknown): void
}

export function linkSignals(...signals: readonly AbortSignal[]): LinkedSignal {
  const controller = new AbortController()
  const links = signals.map((signal) => ({ signal, follow: () => controller.abort(signal.reason) }))
  for (const { signal, follow } of links) {
    if (signal.aborted) follow()
    signal.addEventListener('abort', follow, { once: true })
  }
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    [Symbol.dispose]() {
      for (const { signal, follow } of links) signal.removeEventListener('abort', follow)
    },
  }
}

/** Settles as the promise does, or rejects with the reason of the signal when it aborts; the work itself continues unobserved. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/** The items until the signal aborts. */
export function* untilAborted<T>(signal: AbortSignal, items: Iterable<T>): Generator<T> {
  for (const item of items) {
    if (signal.aborted) return
    yield item
  }
}
