import type { Eventual } from '../../common/eventual.ts'
import type { AskCaller, Launch, Permit, RemoteCall } from '../remote-agent.ts'

/** Time between two words to a caller who waits, in milliseconds: hosts, and the limits of a call, end a silent one. */
const beat_ms = 5_000

/** How a package starts for a caller, who is told from time to time while it is asked for and installed. */
export function permitted(
  permit: Permit,
  { signal, emit }: Pick<RemoteCall, 'signal' | 'emit'>,
  ask: AskCaller | undefined,
  pause_ms = beat_ms,
): Eventual<Launch> {
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
  const launch = permit({
    signal,
    ask,
    progress(text) {
      message = text
      void tell()
    },
  })
  if (!(launch instanceof Promise)) return launch
  const beat = setInterval(() => void tellAgain(), pause_ms).unref()
  return launch.finally(() => clearInterval(beat))
}
