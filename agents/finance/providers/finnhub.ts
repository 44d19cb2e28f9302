import { z } from 'zod'
import type { Stock } from '../symbol.ts'
import { askJson, expectAnswer, type KeyedSource, Price, type Provider, Seconds, under } from './provider.ts'

const Found = z.object({ c: Price, t: Seconds })
const Unknown = z.object({ c: z.literal('0'), t: z.literal('0') }).transform(() => null)

/** Finnhub, with the operator's key (https://finnhub.io/docs/api/quote): the last price of a share, without its currency. */
export function finnhub({ ask, url: base, key }: KeyedSource): Provider<Stock> {
  return {
    id: 'finnhub',
    name: 'Finnhub',
    quote({ resolved, currency }, call) {
      const url = under(base, '/api/v1/quote', { symbol: resolved })
      return askJson(ask, { url, headers: { 'x-finnhub-token': key }, ...call }, (answer) => {
        const found = expectAnswer(z.union([Unknown, Found]), answer)
        return found && { price: found.c, currency, time: found.t, url }
      })
    },
  }
}
