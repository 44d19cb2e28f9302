import { type Code, Failure } from '../../schemas/failure.ts'
import type { Clock } from './port.ts'
import type { Provider, Quote } from './provider.ts'
import type { Instrument } from './symbol.ts'

export interface Found extends Quote {
  readonly provider: string
  readonly name: string
  readonly warnings: readonly string[]
}

/** What a source may do wrong without spoiling the others' turn. */
const trouble: ReadonlySet<Code> = new Set<Code>([
  'upstream_failed',
  'upstream_timeout',
  'upstream_invalid',
  'too_large',
  'blocked_address',
  'circuit_open',
])

const future = 2 * 60_000

/**
 * Asks one source after the other. Null when every one of them does not know the symbol; Failure `upstream_timeout`
 * (all of them too late) or `upstream_failed`, with what each said, when no price came and one was in trouble.
 */
export async function firstQuote<Asked extends Instrument>(
  providers: readonly Provider<Asked>[],
  asked: Asked,
  clock: Clock,
  signal: AbortSignal,
): Promise<Found | null> {
  const failed: { readonly id: string; readonly failure: Failure }[] = []
  for (const { id, name, quote } of providers) {
    try {
      const found = await quote(asked, signal)
      if (!found) continue
      checkTime(found, clock())
      const warnings = failed.map((said) => `No price from ${line(said)}.`)
      return { ...found, provider: id, name, warnings }
    } catch (thrown) {
      if (!(thrown instanceof Failure) || !trouble.has(thrown.code)) throw thrown
      failed.push({ id, failure: thrown })
    }
  }
  if (failed.length === 0) return null
  throw allFailed(asked, failed)
}

function checkTime({ time }: Quote, now: number): void {
  if (time !== null && time > now + future) throw new Failure('upstream_invalid', 'a trade in the future')
}

function line({ id, failure }: { id: string; failure: Failure }): string {
  return `${id} (${failure.code}: ${failure.message.replace(/\.$/, '')})`
}

function allFailed(asked: Instrument, failed: readonly { id: string; failure: Failure }[]): Failure {
  const code = failed.every(({ failure }) => failure.code === 'upstream_timeout')
    ? 'upstream_timeout'
    : 'upstream_failed'
  const said = failed.map(line).join(', ')
  const pauses = failed.flatMap(({ failure }) => failure.details.retry_after_s ?? [])
  return new Failure(
    code,
    `No source gave a price of ${asked.resolved}: ${said}.`,
    { upstream: { code: said }, ...(pauses.length > 0 && { retry_after_s: Math.min(...pauses) }) },
    failed.map(({ failure }) => failure),
  )
}
