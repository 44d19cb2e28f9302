import type { Readable } from 'node:stream'

export interface CutOff extends Disposable {
  readonly has_passed: boolean
}

/** How long is waited for what an error says beside its status. */
const explanationMilliseconds = 1_000

/**
 * Ends the body of an error (RFC 9110, 15.5 and 15.6) that does not end by itself soon: the status says enough. Undefined
 * for any other answer. Whoever reads the body sees it break off.
 */
export function cutExplanation(status: number, body: Readable): CutOff | undefined {
  if (status < 400) return undefined
  let hasPassed = false
  const timer = setTimeout(() => {
    hasPassed = true
    body.destroy()
  }, explanationMilliseconds)
  return {
    get has_passed() {
      return hasPassed
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  }
}
