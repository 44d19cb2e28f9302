interface BodyTimeout extends Disposable {
  readonly has_passed: boolean
}

/** Milliseconds for the body of an error; the status says enough. */
const errorBody_ms = 1_000

/**
 * Calls `end` when the body of an error (RFC 9110, 15.5 and 15.6) does not end in time. Undefined for any other status.
 */
export function limitErrorBody(status: number, end: () => void): BodyTimeout | undefined {
  if (status < 400) return undefined
  let hasPassed = false
  const timer = setTimeout(() => {
    hasPassed = true
    end()
  }, errorBody_ms)
  return {
    get has_passed() {
      return hasPassed
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  }
}
