import { Failure } from '../../schemas/failure.ts'
import { type Heard, type Hedge, hear, isQuote } from './hedge.ts'
import type { Provider, Quote } from './providers/provider.ts'
import type { Instrument } from './symbol.ts'

export interface Found extends Quote {
  readonly provider: string
  readonly name: string
  readonly warnings: readonly string[]
  /** What another source gave. */
  readonly compared?: { readonly provider: string; readonly price: string; readonly currency: string | null }
}

/** From here on two sources do not agree. */
const largestGap = 0.02

/**
 * The quote of the first source that has one, and what another one says where that is at hand. Null when every one of
 * them does not know the symbol; Failure `upstream_timeout` (all of them too late), `circuit_open` (all left alone) or
 * `upstream_failed`, with what each said, when no price came and one was in trouble.
 */
export async function firstQuote<Asked extends Instrument>(
  providers: readonly Provider<Asked>[],
  asked: Asked,
  hedge: Hedge,
  signal: AbortSignal,
): Promise<Found | null> {
  const heard = await hear(providers, asked, hedge, signal)
  const place = ({ id }: Heard) => providers.findIndex((provider) => provider.id === id)
  const quotes = heard.flatMap(quoted).toSorted((one, other) => place(one) - place(other))
  const failed = heard.flatMap(({ id, said }) => (said instanceof Failure ? [{ id, failure: said }] : []))
  const [best, second] = quotes
  if (best) {
    const warnings = failed.map((one) => `No price from ${line(one)}.`)
    const { id, name, said } = best
    return { ...said, provider: id, name, ...compare(best, second, hedge.wanted, warnings) }
  }
  if (failed.length === 0) return null
  throw allFailed(asked, failed)
}

type Quoted = Heard & { readonly said: Quote }

function quoted({ id, name, said }: Heard): Quoted[] {
  return isQuote(said) ? [{ id, name, said }] : []
}

function compare(best: Quoted, second: Quoted | undefined, wanted: number, warnings: readonly string[]) {
  if (!second) {
    const alone = wanted > 1 ? ['No second source had a price to compare with.'] : []
    return { warnings: [...warnings, ...alone] }
  }
  const { price, currency } = second.said
  const compared = { provider: second.id, price, currency }
  if (currency !== best.said.currency) {
    const other = `${second.name} gives it in ${currency ?? 'an unknown currency'}: not compared.`
    return { compared, warnings: [...warnings, other] }
  }
  const gap = Math.abs(Number(price) / Number(best.said.price) - 1)
  const apart = `${second.name} says ${price}: ${(gap * 100).toFixed(1)} % apart.`
  return { compared, warnings: gap > largestGap ? [...warnings, apart] : warnings }
}

interface Trouble {
  readonly id: string
  readonly failure: Failure
}

function line({ id, failure }: Trouble): string {
  return `${id} (${failure.code}: ${failure.message.replace(/\.$/, '')})`
}

function allFailed(asked: Instrument, failed: readonly Trouble[]): Failure {
  const [first] = failed.map(({ failure }) => failure.code)
  const isOne = failed.every(({ failure }) => failure.code === first)
  const code = isOne && (first === 'upstream_timeout' || first === 'circuit_open') ? first : 'upstream_failed'
  const said = failed.map(line).join(', ')
  const pauses = failed.flatMap(({ failure }) => failure.details.retry_after_s ?? [])
  return new Failure(
    code,
    `No source gave a price of ${asked.resolved}: ${said}.`,
    { upstream: { code: said }, ...(pauses.length > 0 && { retry_after_s: Math.min(...pauses) }) },
    failed.map(({ failure }) => failure),
  )
}
