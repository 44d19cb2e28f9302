import { z } from 'zod'
import { Failure } from '../../../schemas/failure.ts'
import type { Pair } from '../symbol.ts'
import { askJson, expectAnswer, Price, type PriceSource, type Provider, under } from './provider.ts'

const Latest = z.object({ base: z.string(), date: z.iso.date(), rates: z.record(z.string(), Price) })
const Unknown = z.object({ message: z.string() })

const minutesOfADay = 24 * 60

/**
 * Frankfurter, without a key (https://frankfurter.dev): the reference rates of the European Central Bank, fixed once
 * on each working day at about 14:15 Frankfurt time; their time is taken as noon UTC.
 */
export function frankfurter({ ask, url: base }: PriceSource): Provider<Pair> {
  return {
    id: 'frankfurter',
    name: 'Frankfurter (European Central Bank)',
    quote(pair, call) {
      const url = under(base, '/v1/latest', { base: pair.base, symbols: pair.quote })
      return askJson(ask, { url, ...call }, (answer) => {
        const isUnknown = answer.status === 404 || answer.status === 422
        if (isUnknown && Unknown.safeParse(answer.json).success) return null
        const { date, rates, ...found } = expectAnswer(Latest, answer)
        const price = rates[pair.quote]
        if (found.base !== pair.base || price === undefined) {
          throw new Failure('upstream_invalid', 'the rate of another pair')
        }
        return {
          price,
          currency: pair.quote,
          time: Date.parse(`${date}T12:00:00Z`),
          url,
          delay_min: minutesOfADay,
          market_state: 'REFERENCE',
          source_warnings: [
            `A reference rate of the European Central Bank, fixed on ${date}: not a market price.`,
          ],
        }
      })
    },
  }
}
