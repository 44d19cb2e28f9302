/** Between two notices of one kind, in milliseconds. */
const pause = 1000

/** Hears that the listed agents changed, until what it gives back is called. */
export type OnListed = (listener: () => void) => () => void

/** The same, told at once and then at most once a second, however much comes and goes. */
export function createPaced(onListed: OnListed): OnListed {
  const listeners = new Set<() => void>()
  let stop: (() => void) | undefined
  let waiting: NodeJS.Timeout | undefined
  let missed = false

  function tell(): void {
    missed = false
    for (const listener of listeners) listener()
    waiting = setTimeout(() => {
      waiting = undefined
      if (missed) tell()
    }, pause).unref()
  }

  function onChange(): void {
    if (waiting) missed = true
    else tell()
  }

  return (listener) => {
    listeners.add(listener)
    stop ??= onListed(onChange)
    return () => {
      listeners.delete(listener)
      if (listeners.size > 0) return
      stop?.()
      stop = undefined
    }
  }
}
