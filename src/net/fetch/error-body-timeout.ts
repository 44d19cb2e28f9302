export interface CutOff extends Disposable {
  readonly has_passed: boolean
}

/** How long is waited for what an error says beside its status. */
const explanationMilliseconds = 1_000

/**
 * Ends the body of an error (RFC 9110, 15.5 and 15.6) by `end` when it does not end by itself soon: the status says
 * enough. Undefined for any other answer.
 */
export function cutExplanation(status: number, end: () => void): CutOff | undefined {
  if (status < 400) return undefined
  let hasPassed = false
  const timer = setTimeout(() => {
    hasPassed = true
    end()
  }, explanationMilliseconds)
  return {
    get has_passed() {
      return hasPassed
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  }
}
