/** Wakes one who waits; rung while nobody waits, it wakes the next one at once. */
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
