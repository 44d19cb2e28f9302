import { hash } from 'node:crypto'
import { Failure } from '../../schemas/failure.ts'
import type { IdempotencyStore, IdempotentCall } from '../../schemas/idempotency.ts'
import { isRecord, orderedText } from '../../schemas/json.ts'
import type { Principal } from '../../schemas/scope.ts'
import { dayMilliseconds } from '../common/days.ts'
import { principalKey } from '../common/principal-key.ts'
import type { Idempotency } from './call.ts'

/**
 * Maximum time of a call before it counts as lost with its process; longer than every deadline of an action with
 * keys.
 */
const leaseMilliseconds = 60_000
const keptMilliseconds = dayMilliseconds
const again_s = 1
/** Stored calls of one caller; the oldest finished one is dropped for a new one. */
export const maxStoredCalls = 1000

interface IdempotencyOptions {
  readonly store: IdempotencyStore
  readonly clock: () => number
  readonly createId: () => string
  /** Receives errors of storing an answer. */
  readonly onError: (fault: unknown) => void
}

/**
 * Does the work of a call with an `idempotency_key` once for each caller, action and key, in all processes, and
 * returns the stored output to repeated calls for a day (draft-ietf-httpapi-idempotency-key-header-07). Failed
 * calls are not stored. The caller's signal must be raced from outside, since a caller that repeats a call has
 * often disconnected. Throws Failure `unauthenticated` for an anonymous caller, `conflict` for another input under
 * the same key and, with `retry_after_s`, while the first call runs.
 */
export function createIdempotency({ store, clock, createId, onError }: IdempotencyOptions): Idempotency {
  return ({ agent, action, principal }, input, work) => {
    if (action.idempotency !== 'key' || !isRecord(input)) return work(input)
    const { idempotency_key: key, ...rest } = input
    if (typeof key !== 'string') return work(rest)
    return once({ agent, action, principal }, key, rest, work)
  }

  async function once(
    { agent, action, principal }: Parameters<Idempotency>[0],
    key: string,
    rest: Readonly<Record<string, unknown>>,
    work: (input: unknown) => Promise<unknown>,
  ): Promise<unknown> {
    const call: IdempotentCall = {
      owner: ownerOf(principal),
      action: `${agent.package_name} ${action.name}`,
      key,
      digest: hash('sha256', orderedText(rest), 'hex'),
    }
    const holder = createId()
    const earlier = await store.begin(call, holder, clock() + leaseMilliseconds, maxStoredCalls)
    if (earlier) return answerOf(earlier, call)
    const output = await work(rest).catch(async (fault) => {
      await store.forget(call, holder).catch(onError)
      throw fault
    })
    await store.keep(call, holder, JSON.stringify(output), clock() + keptMilliseconds).catch(onError)
    return output
  }
}

function ownerOf(principal: Principal | null): string {
  if (principal) return principalKey(principal)
  throw new Failure(
    'unauthenticated',
    'An idempotency key belongs to its caller: this needs a bearer token.',
    {
      hint: 'Leave the key out, or send a token.',
    },
  )
}

function answerOf(
  { digest, output }: { readonly digest: string; readonly output: string | null },
  call: IdempotentCall,
): unknown {
  if (digest !== call.digest) {
    throw new Failure('conflict', 'This key was used for another call.', {
      errors: [{ pointer: '/idempotency_key', detail: 'Another input needs a key of its own.' }],
    })
  }
  if (output !== null) return JSON.parse(output)
  throw new Failure('conflict', 'The call with this key is still running.', {
    retry_after_s: again_s,
    hint: 'Send it again a little later, with the same key.',
  })
}
