import type { AskCaller, Launch, Permit, RemoteCall } from '../remote-agent.ts'

/** Time between two words to a caller who waits, in milliseconds: hosts, and the limits of a call, end a silent one. */
const beat_ms = 5_000

/** How a package starts for a caller, who is told from time to time while it is asked for and installed. */
export async function permitted(
  permit: Permit,
  { signal, emit }: Pick<RemoteCall, 'signal' | 'emit'>,
  ask: AskCaller | undefined,
  pause_ms = beat_ms,
): Promise<Launch> {
  let message = 'Looks the package up'
  let count = 0
  // Stays below the first step of the server itself.
  const tell = () => emit({ progress: ++count / (count + 1), message }).catch(() => {})
  let isTelling = false
  const tellAgain = async () => {
    if (isTelling) return
    isTelling = true
    await tell()
    isTelling = false
  }
  // Most packages may start at once: an interval costs less than what an abort ends.
  const beat = setInterval(() => void tellAgain(), pause_ms).unref()
  try {
    return await permit({
      signal,
      ask,
      progress(text) {
        message = text
        void tell()
      },
    })
  } finally {
    clearInterval(beat)
  }
}
