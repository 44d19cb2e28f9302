import type { Context } from '../../schemas/action.ts'
import { Failure, problem } from '../../schemas/failure.ts'
import type { Json, JsonObject } from '../../schemas/json.ts'
import type { Step } from '../../schemas/playground.ts'
import { toAscii } from '../../src/common/ascii.ts'
import { admit, isAnonymous } from './caller.ts'
import type { PlaygroundNeeds } from './port.ts'

/** Maximum bytes of a call in an export, and of the stored beginning of a long answer. */
const maxCallBytes = 64 * 1024
const maxReplyBytes = 64 * 1024

interface StepRequest {
  readonly kind: Step['kind']
  readonly session: string
  readonly envelope: {
    readonly to: string
    readonly action: string
    readonly params: Record<string, unknown>
  }
}

/**
 * Makes a call in a session and stores it with its outcome. Throws the error of the call, and Failure `not_found`,
 * `forbidden`, `too_large` if the session cannot make it.
 */
export async function takeStep(
  { sessions, clock }: Pick<PlaygroundNeeds, 'sessions' | 'clock'>,
  { kind, session, envelope }: StepRequest,
  { principal, id, call }: Context,
): Promise<{ output: Json; step: number }> {
  admit(principal)
  assertShort(envelope)
  await sessions.reserve(session, principal)
  const started = clock()
  const outcome = await call(envelope, 'kept').then(
    (output) => ({ output }),
    (thrown) => ({ failure: Failure.from(thrown) }),
  )
  const step = {
    kind,
    by: isAnonymous(principal) ? ('anonymous' as const) : ('token' as const),
    started_at: new Date(started).toISOString(),
    duration_ms: Math.max(0, clock() - started),
    envelope,
  }
  if ('output' in outcome) {
    const number = await sessions.keep(session, { ...step, ...storedOutput(outcome.output) })
    return { output: outcome.output, step: number }
  }
  const { failure } = outcome
  // A call that fails with `not_callable` may contain a secret, which must not be stored.
  if (failure.code === 'not_callable') throw failure
  // The error of the call matters more than an error of storing it.
  await sessions.keep(session, { ...step, failure: { ...problem(failure, id) } }).catch(() => {})
  throw failure
}

function storedOutput(output: Json): Pick<Step, 'output' | 'cut'> {
  const bytes = Buffer.from(JSON.stringify(output))
  if (bytes.length <= maxReplyBytes) return { output }
  const text = new TextDecoder().decode(bytes.subarray(0, maxReplyBytes), { stream: true })
  return { cut: { text, bytes: bytes.length } }
}

/** Refuses a call that an export could not pass to a shell. */
function assertShort(envelope: object): void {
  if (toAscii(envelope as JsonObject).length <= maxCallBytes) return
  throw new Failure('too_large', `The playground makes calls of at most ${maxCallBytes} bytes.`, {
    hint: 'Call the agent itself: its call may have 1 MiB.',
  })
}
