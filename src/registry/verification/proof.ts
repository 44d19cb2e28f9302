import type { Fetch } from '../../net/fetch/fetch.ts'
import type { ResolveTxt } from '../../net/fetch/resolver.ts'
import type { Method } from './challenge.ts'

export interface ProofAttempt {
  /** A domain from `agreement`, which has checked it. */
  readonly domain: string
  /** The result of `claimToken` for the owner and the domain. */
  readonly token: string
  /** The only method to try; all methods when absent. */
  readonly method?: Method | undefined
  /** For `mcp`: an Ed25519 signature over `dragoman-verify=TOKEN`, base64 or hexadecimal. */
  readonly signature?: string | undefined
  /** The key of an earlier proof, base64: it must still be published. */
  readonly public_key?: string | undefined
}

/** The stored part of a proof, which is enough to check the proof again. */
export interface Proof {
  readonly method: Method
  readonly domain: string
  /** Base64 of 32 bytes; for `mcp` only, as is the signature. */
  readonly public_key?: string
  readonly signature?: string
}

interface Attempt {
  readonly method: Method
  readonly ok: boolean
  /** A message for the owner. */
  readonly detail: string
}

export interface Proving {
  /** The first method that succeeded, in the order dns, http, mcp. */
  readonly proof: Proof | null
  readonly attempts: readonly Attempt[]
}

/** Tries to prove a claim. An external fault is a failed attempt; throws only the signal's reason. */
export type Prove = (request: ProofAttempt, signal: AbortSignal) => Promise<Proving>

/** The result of one method. */
export interface Outcome {
  readonly detail: string
  readonly proof?: Pick<Proof, 'public_key' | 'signature'>
}

/** The sources that a method may read. */
export interface ProofSources {
  readonly resolveTxt: ResolveTxt
  readonly fetch: Fetch
  /** Origin of the domain's files, without a slash at the end. */
  readonly origin: string
}

/** One method of proof. Throws Failure if a source could not be read. */
export type Way = (request: ProofAttempt, sources: ProofSources, signal: AbortSignal) => Promise<Outcome>
