/**
 * `unavailable`: closed, being rebuilt or not readable now. `storage_full`: no space for more. `not_configured`: a
 * library is missing. `internal`: all other
 * errors.
 */
type VectorStoreErrorCode = 'unavailable' | 'storage_full' | 'not_configured' | 'internal'

/** The error of vector stores. The caller translates it to its own error. */
export class VectorStoreError extends Error {
  override readonly name = 'VectorStoreError'
  readonly code: VectorStoreErrorCode
  /** Seconds after which the same call may succeed. */
  readonly retry_after_s: number | undefined
  /** What to do. */
  readonly hint: string | undefined

  constructor(
    code: VectorStoreErrorCode,
    message: string,
    {
      cause,
      retry_after_s,
      hint,
    }: { readonly cause?: unknown; readonly retry_after_s?: number; readonly hint?: string } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.retry_after_s = retry_after_s
    this.hint = hint
  }
}
