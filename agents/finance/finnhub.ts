import { z } from 'zod'
import type { Fetch } from './port.ts'
import { ask, expectAnswer, Price, type Provider, under } from './provider.ts'
import type { Share } from './symbol.ts'

const Found = z.object({ c: Price, t: z.string().regex(/^[1-9]\d{0,10}$/) })
const Unknown = z.object({ c: z.literal('0'), t: z.literal('0') }).transform(() => null)

/** Finnhub, with the operator's key (https://finnhub.io/docs/api/quote): the last price of a share, without its currency. */
export function finnhub(fetch: Fetch, base: string, key: string): Provider<Share> {
  return {
    id: 'finnhub',
    name: 'Finnhub',
    async quote({ resolved, currency }, signal) {
      const url = under(base, `/api/v1/quote?symbol=${encodeURIComponent(resolved)}`)
      const answer = await ask(fetch, { url, headers: { 'x-finnhub-token': key }, signal })
      const quote = expectAnswer(z.union([Unknown, Found]), answer)
      return quote && { price: quote.c, currency, time: Number(quote.t) * 1000, url }
    },
  }
}
