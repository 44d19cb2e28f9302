import { type EventEmitter, once } from 'node:events'

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
async function pause(commits: EventEmitter, signal: AbortSignal): Promise<void> {
  const enough = AbortSignal.any([signal, AbortSignal.timeout(pollMilliseconds)])
  await once(commits, 'commit', { signal: enough }).catch(() => {})
}
