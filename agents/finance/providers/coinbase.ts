import { z } from 'zod'
import type { Pair } from '../symbol.ts'
import { askJson, expectAnswer, Price, type PriceSource, type Provider, under } from './provider.ts'

const Ticker = z.object({ price: Price, time: z.iso.datetime({ offset: true }) })
const Unknown = z.object({ message: z.string().regex(/not ?found/i) })

/** Coinbase Exchange, without a key (https://docs.cdp.coinbase.com/exchange): the last trade of a pair. */
export function coinbase({ ask, url: base }: PriceSource): Provider<Pair> {
  return {
    id: 'coinbase',
    name: 'Coinbase Exchange',
    quote({ resolved, quote }, call) {
      const url = under(base, `/products/${encodeURIComponent(resolved)}/ticker`)
      return askJson(ask, { url, ...call }, (answer) => {
        if (answer.status === 404 && Unknown.safeParse(answer.json).success) return null
        const { price, time } = expectAnswer(Ticker, answer)
        return { price, currency: quote, time: Date.parse(time), url, delay_min: 0 }
      })
    },
  }
}
