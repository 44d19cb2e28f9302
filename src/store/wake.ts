import { type EventEmitter, once } from 'node:events'

const pollMilliseconds = 500

/** Yields once, and again whenever `version` differs; looks at each `commit` and twice a second. */
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

/** Until there is a commit, half a second passes or the signal aborts. */
async function pause(commits: EventEmitter, signal: AbortSignal): Promise<void> {
  const enough = AbortSignal.any([signal, AbortSignal.timeout(pollMilliseconds)])
  await once(commits, 'commit', { signal: enough }).catch(() => {})
}
