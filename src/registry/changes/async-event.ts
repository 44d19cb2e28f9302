/** An auto-reset event: a signal wakes one waiter, or the next waiter if none waits. */
interface AsyncEvent {
  readonly ring: () => void
  rung(): Promise<void>
}

export function createAsyncEvent(): AsyncEvent {
  let hasRung = false
  let wake = () => {}
  return {
    ring() {
      hasRung = true
      wake()
    },
    async rung() {
      if (!hasRung) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      hasRung = false
    },
  }
}
