import { z } from 'zod'

/** How every creating action lets its caller name a call; over REST the header `Idempotency-Key` says it. */
export const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,200}$/, 'Use 1 to 200 visible ASCII characters.')
  .optional()
  .describe('Names this call: sent again within a day it is not made again, and has the same answer.')

/** A call that may be sent again. */
export interface IdempotentCall {
  /** [issuer, subject] as JSON. */
  readonly owner: string
  /** Package name and action. */
  readonly action: string
  readonly key: string
  /** SHA-256 of its input, in hex. */
  readonly digest: string
}

/** What became of a call that was sent before; `output` is null while it still runs. */
export interface EarlierCall {
  readonly digest: string
  /** JSON. */
  readonly output: string | null
}

/** Which calls were made, for all processes that share the store. Times in milliseconds since the epoch. */
export interface IdempotencyStore {
  /** Undefined where it is new: it is the holder's until then. Of one owner `most` are kept: the oldest that are done make room. */
  begin(call: IdempotentCall, holder: string, until: number, most: number): Promise<EarlierCall | undefined>
  /** Keeps what came of it. Does nothing where it is no longer the holder's. */
  keep(call: IdempotentCall, holder: string, output: string, until: number): Promise<void>
  /** As if it had not been made. Does nothing where it is no longer the holder's. */
  forget(call: IdempotentCall, holder: string): Promise<void>
}
