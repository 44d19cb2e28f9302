import type { Fetch } from '../../net/fetch/fetch.ts'
import type { ResolveTxt } from '../../net/fetch/resolver.ts'
import type { Method } from './challenge.ts'

export interface ProofRequest {
  /** One that `agreement` gave: it is not checked here again. */
  readonly domain: string
  /** What `claimToken` gave for the owner and the domain. */
  readonly token: string
  /** All of them when absent. */
  readonly method?: Method | undefined
  /** For `mcp`: an Ed25519 signature over `dragoman-verify=TOKEN`, base64 or hexadecimal. */
  readonly signature?: string | undefined
  /** The key of an earlier proof, base64: it must still be the one that is published. */
  readonly public_key?: string | undefined
}

/** What is kept of a proof: enough to make it again. */
export interface Proof {
  readonly method: Method
  readonly domain: string
  /** Base64 of 32 bytes; for `mcp` alone, as the signature. */
  readonly public_key?: string
  readonly signature?: string
}

export interface Attempt {
  readonly method: Method
  readonly ok: boolean
  /** One sentence for the owner. */
  readonly detail: string
}

export interface Proving {
  /** The first method that succeeded, in the order dns, http, mcp. */
  readonly proof: Proof | null
  readonly attempts: readonly Attempt[]
}

/** Tries to prove a claim. A fault outside is an attempt that failed; throws only what the signal aborts with. */
export type Prove = (request: ProofRequest, signal: AbortSignal) => Promise<Proving>

/** What one way came to. */
export interface Outcome {
  readonly detail: string
  readonly proof?: Pick<Proof, 'public_key' | 'signature'>
}

/** Where a way looks. */
export interface ProofSources {
  readonly resolveTxt: ResolveTxt
  readonly fetch: Fetch
  /** Of the domain's files, without a slash at the end. */
  readonly origin: string
}

/** One way to prove. Throws Failure where a place could not be looked at. */
export type Way = (request: ProofRequest, sources: ProofSources, signal: AbortSignal) => Promise<Outcome>
