import { z } from 'zod'

/** The key by which a caller names a creating call; over REST the header `Idempotency-Key`. */
export const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,200}$/, 'Use 1 to 200 visible ASCII characters.')
  .optional()
  .describe(
    'Names this call. Within a day, a repeated call with the same key is not run again and gets the same answer.',
  )

/** A call that carries an idempotency key. */
export interface IdempotentCall {
  /** Principal key. */
  readonly owner: string
  /** Package name and action. */
  readonly action: string
  readonly key: string
  /** SHA-256 of its input, in hex. */
  readonly digest: string
}

/** An earlier call with the same key; `output` is null while it still runs. */
export interface EarlierCall {
  readonly digest: string
  /** JSON. */
  readonly output: string | null
}

/** Calls with idempotency keys, for all processes that share the store. Times in milliseconds since the epoch. */
export interface IdempotencyStore {
  /**
   * Undefined if the call is new: it then belongs to `holder` until `until`. At most `max` calls of one owner are
   * stored; the oldest finished ones are removed.
   */
  begin(call: IdempotentCall, holder: string, until: number, max: number): Promise<EarlierCall | undefined>
  /** Stores the output. Has no effect if the call no longer belongs to the holder. */
  keep(call: IdempotentCall, holder: string, output: string, until: number): Promise<void>
  /** Removes the call. Has no effect if it no longer belongs to the holder. */
  forget(call: IdempotentCall, holder: string): Promise<void>
}
