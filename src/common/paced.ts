/** Minimum time between two notifications, in milliseconds. */
const pause = 1000

/** Calls the listener at each change; the returned function removes the listener. */
export type OnChange = (listener: () => void) => () => void

/** Calls listeners as `onChange` does, at once and then at most once a second. */
export function createPaced(onChange: OnChange): OnChange {
  const listeners = new Set<() => void>()
  let stop: (() => void) | undefined
  let waiting: NodeJS.Timeout | undefined
  let missed = false

  function notify(): void {
    missed = false
    for (const listener of listeners) listener()
    waiting = setTimeout(() => {
      waiting = undefined
      if (missed) notify()
    }, pause).unref()
  }

  function note(): void {
    if (waiting) missed = true
    else notify()
  }

  return (listener) => {
    listeners.add(listener)
    stop ??= onChange(note)
    return () => {
      listeners.delete(listener)
      if (listeners.size > 0) return
      stop?.()
      stop = undefined
    }
  }
}
