import { Failure } from '../../schemas/failure.ts'

/** A signal that aborts with a Failure: `cancelled` with its parent, `deadline_exceeded` when time is up. */
export interface CallDeadline extends Disposable {
  readonly signal: AbortSignal
  /** Settles as `work` does, or rejects with the signal's Failure if that comes first. */
  race<T>(work: Promise<T>): Promise<T>
  /** Ends the call before its time. */
  end(reason: Failure): void
}

/**
 * Runs for `milliseconds` (Infinity: no limit) from now, and never longer than `parent` allows. It is in `running` until
 * it is disposed.
 */
export function startCallDeadline(
  parent: AbortSignal,
  milliseconds: number,
  running: Set<CallDeadline>,
): CallDeadline {
  const controller = new AbortController()
  const { signal } = controller
  let stop = () => {}
  const cancel = () => end(Failure.cancelled(parent))
  if (parent.aborted) cancel()
  parent.addEventListener('abort', cancel)
  const timer = Number.isFinite(milliseconds) ? setTimeout(expire, milliseconds) : undefined

  function expire(): void {
    end(new Failure('deadline_exceeded', `No answer within ${milliseconds} ms.`))
  }

  function end(reason: Failure): void {
    controller.abort(reason)
    stop()
  }
  const deadline: CallDeadline = {
    signal,
    end,
    race: (work) =>
      new Promise((resolve, reject) => {
        stop = () => reject(signal.reason)
        if (signal.aborted) stop()
        work.then(resolve, reject)
      }),
    [Symbol.dispose]() {
      clearTimeout(timer)
      parent.removeEventListener('abort', cancel)
      running.delete(deadline)
    },
  }
  running.add(deadline)
  return deadline
}
