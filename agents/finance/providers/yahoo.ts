import { z } from 'zod'
import type { Clock } from '../../../src/common/clock.ts'
import type { Index, Pair, Stock } from '../symbol.ts'
import {
  askJson,
  expectAnswer,
  expectSame,
  Price,
  type PriceSource,
  type Provider,
  Seconds,
  under,
} from './provider.ts'

const Period = z.object({ start: Seconds, end: Seconds })
const Periods = z.object({ pre: Period, regular: Period, post: Period })
type Periods = z.infer<typeof Periods>

const Chart = z.object({
  chart: z.object({
    error: z.null(),
    result: z.tuple([
      z.object({
        meta: z.object({
          symbol: z.string(),
          currency: z.string().regex(/^[A-Za-z]{3,5}$/),
          regularMarketPrice: Price,
          regularMarketTime: Seconds,
          currentTradingPeriod: Periods.optional(),
        }),
      }),
    ]),
  }),
})
const Unknown = z.object({ chart: z.object({ error: z.object({ code: z.literal('Not Found') }) }) })

/**
 * The chart API (v8) of Yahoo's own pages, which is unofficial: used only if the operator enables it. Pence have the
 * code
 * `GBp`.
 */
export function yahoo({ ask, url: base }: PriceSource, clock: Clock): Provider<Pair | Stock | Index> {
  return {
    id: 'yahoo',
    name: 'Yahoo Finance (unofficial)',
    quote(instrument, call) {
      const symbol = symbolOf(instrument)
      const path = `/v8/finance/chart/${encodeURIComponent(symbol)}`
      const url = under(base, path, { interval: '1d', range: '1d' })
      return askJson(ask, { url, ...call }, (answer) => {
        if (answer.status === 404 && Unknown.safeParse(answer.json).success) return null
        const { meta } = expectAnswer(Chart, answer).chart.result[0]
        expectSame(meta.symbol, symbol)
        const { currency, currentTradingPeriod: periods } = meta
        return {
          price: meta.regularMarketPrice,
          currency,
          time: meta.regularMarketTime,
          url,
          ...(periods && { market_state: stateOf(periods, clock()) }),
          source_warnings: [
            "Yahoo's interface is unofficial, and its terms do not allow its prices to be passed on.",
          ],
        }
      })
    },
  }
}

function symbolOf(instrument: Pair | Stock | Index): string {
  if (instrument.asset_class === 'fx') return `${instrument.base}${instrument.quote}=X`
  const isClass = instrument.asset_class === 'stock' && 'share_class' in instrument
  return isClass ? instrument.resolved.replace('.', '-') : instrument.resolved
}

function stateOf({ pre, regular, post }: Periods, now: number): string {
  const isIn = ({ start, end }: { start: number; end: number }) => now >= start && now < end
  if (isIn(regular)) return 'REGULAR'
  if (isIn(pre)) return 'PRE'
  return isIn(post) ? 'POST' : 'CLOSED'
}
