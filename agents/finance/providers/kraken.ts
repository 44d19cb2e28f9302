import { z } from 'zod'
import { Failure } from '../../../schemas/failure.ts'
import type { Pair } from '../symbol.ts'
import { askJson, expectAnswer, Price, type PriceSource, type Provider, under } from './provider.ts'

const Ticker = z.object({
  error: z.array(z.string()),
  result: z.record(z.string(), z.object({ c: z.tuple([Price], z.unknown()) })).optional(),
})

const codes: Readonly<Record<string, string>> = { BTC: 'XBT', DOGE: 'XDG' }

/** Kraken, without a key (https://docs.kraken.com/api): the last trade of a pair, without its time. */
export function kraken({ ask, url: base }: PriceSource): Provider<Pair> {
  return {
    id: 'kraken',
    name: 'Kraken',
    quote(pair, call) {
      const url = under(base, '/0/public/Ticker', { pair: codeOf(pair.base) + codeOf(pair.quote) })
      return askJson(ask, { url, ...call }, (answer) => {
        const { error, result = {} } = expectAnswer(Ticker, answer)
        if (error.some((text) => text.startsWith('EQuery:Unknown asset pair'))) return null
        if (error[0] !== undefined) throw refusal(error[0].slice(0, 100))
        const [found] = Object.entries(result)
        if (!found || !names(found[0], pair)) {
          throw new Failure('upstream_invalid', 'the price of another pair')
        }
        return { price: found[1].c[0], currency: pair.quote, time: null, url, delay_min: 0 }
      })
    },
  }
}

function codeOf(ticker: string): string {
  return codes[ticker] ?? ticker
}

/** Errors of EService are Kraken's own; the others, but for a limit of the rate, are about the request. */
function refusal(text: string): Failure {
  if (/too many requests|rate limit/i.test(text)) {
    return new Failure('rate_limited', text, { retry_after_s: 5 })
  }
  const isOwn = text.startsWith('EService:')
  return new Failure('upstream_failed', text, isOwn ? {} : { upstream: { status: 400 } })
}

/** Kraken answers under its own name of the pair: XBTUSD as XXBTZUSD, ETHBTC as XETHXXBT, SOLUSD unchanged. */
function names(key: string, { base, quote }: Pair): boolean {
  return new RegExp(`^X?${codeOf(base)}[XZ]?${codeOf(quote)}$`).test(key)
}
