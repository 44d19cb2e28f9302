import type { EventEmitter } from 'node:events'

const pollMilliseconds = 500

/** Yields once, and again whenever `version` differs. `version` is compared at each `commit` and twice a second. */
export async function* wakeOn(
  version: () => number,
  commits: EventEmitter,
  signal: AbortSignal,
): AsyncIterable<void> {
  for (let seen = version(); !signal.aborted; seen = version()) {
    yield
    while (!signal.aborted && version() === seen) await pause(commits, signal)
  }
}

/** Resolves at the next commit, after half a second, or when the signal aborts. */
function pause(commits: EventEmitter, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const end = () => resolve()
  // An AbortSignal with a time-out costs several times as much, for each follower of the log at each commit.
  const timer = setTimeout(end, pollMilliseconds).unref()
  commits.once('commit', end)
  signal.addEventListener('abort', end)
  return promise.finally(() => {
    clearTimeout(timer)
    commits.off('commit', end)
    signal.removeEventListener('abort', end)
  })
}
