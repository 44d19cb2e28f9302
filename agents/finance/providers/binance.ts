import { z } from 'zod'
import type { Pair } from '../symbol.ts'
import {
  askJson,
  expectAnswer,
  expectSame,
  Price,
  type PriceSource,
  type Provider,
  under,
} from './provider.ts'

const Ticker = z.object({
  symbol: z.string(),
  lastPrice: Price,
  closeTime: z.string().regex(/^[1-9]\d{11,13}$/),
})
const Unknown = z.object({ code: z.literal('-1121') })

/**
 * Binance's mirror of market data, without a key (https://developers.binance.com/docs/binance-spot-api-docs). It has
 * no dollars: a request for USD gets the price in USDT, with a warning.
 */
export function binance({ ask, url: base }: PriceSource): Provider<Pair> {
  return {
    id: 'binance',
    name: 'Binance market data',
    async quote(pair, call) {
      const quote = pair.quote === 'USD' ? 'USDT' : pair.quote
      if (pair.base === quote) return null
      const symbol = pair.base + quote
      const url = under(base, '/api/v3/ticker/24hr', { symbol, type: 'MINI' })
      return askJson(ask, { url, ...call }, (answer) => {
        if (answer.status === 400 && Unknown.safeParse(answer.json).success) return null
        const { lastPrice, closeTime, ...found } = expectAnswer(Ticker, answer)
        expectSame(found.symbol, symbol)
        const resolved = `${pair.base}-${quote}`
        return { price: lastPrice, currency: quote, time: Number(closeTime), url, resolved, delay_min: 0 }
      })
    },
  }
}
