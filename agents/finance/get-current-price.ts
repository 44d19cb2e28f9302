import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { input, output } from '../../schemas/shape.ts'
import type { Found } from './chain.ts'
import type { Cached, Clock } from './port.ts'
import type { Prices } from './prices.ts'
import { type AssetClass, alternativesOf, type Instrument, readSymbol } from './symbol.ts'

const AssetClassName = z.enum(['crypto', 'stock'])

const Input = z.strictObject({
  symbol: z
    .string()
    .min(1)
    .max(24)
    .transform((symbol) => symbol.normalize('NFKC').trim())
    .pipe(z.string().regex(/^[A-Za-z0-9.^=\-/]{1,24}$/, 'Use letters, digits and . ^ = - / only.'))
    .transform((symbol) => symbol.toUpperCase())
    .describe('Stock or crypto ticker, or a pair: AAPL, BRK.B, BTC, ETH-EUR.'),
  asset_class: AssetClassName.optional().describe('Which one is meant, where a ticker names both.'),
  currency: z
    .string()
    .regex(/^[A-Za-z]{3,5}$/, 'Use a code such as USD.')
    .default('USD')
    .transform((currency) => currency.toUpperCase())
    .describe('What a bare crypto ticker is priced in; shares are given in the currency of their exchange.'),
})

const Output = z.object({
  symbol: z.string().describe('As asked.'),
  resolved_symbol: z.string(),
  asset_class: AssetClassName,
  price: z.string().describe("The source's own decimal digits."),
  currency: z.string().nullable().describe('Null where the source does not say.'),
  quote_time: z.iso.datetime().nullable().describe('Time of the trade; null where the source does not say.'),
  age_s: z.int().nonnegative().nullable().describe('Seconds since the trade.'),
  market_state: z.string().optional(),
  delay_min: z.number().optional(),
  alternatives: z
    .array(z.object({ symbol: z.string(), asset_class: AssetClassName }))
    .describe('What else the symbol may mean.'),
  stale: z.boolean(),
  source: z.object({ name: z.string(), url: z.url(), provider: z.string() }),
  fetched_at: z.iso.datetime(),
  cache: z.object({ hit: z.boolean(), age_s: z.int().nonnegative(), stale: z.boolean() }),
  license: z.string().optional(),
  attribution: z.string().optional(),
  warnings: z.array(z.string()),
  disclaimer: z.string(),
})

/** A trade older than this (milliseconds) is no longer the current price; shares rest over a long weekend. */
const oldest: Readonly<Record<AssetClass, number>> = { crypto: 15 * 60_000, stock: 4 * 24 * 3_600_000 }

/** Action `get_current_price`. Throws Failure `invalid_request`, `not_found`, `not_configured`, `upstream_…`. */
export function getCurrentPrice(
  prices: Prices,
  clock: Clock,
): Action<z.output<typeof Input>, z.output<typeof Output>> {
  return defineAction({
    name: 'get_current_price',
    title: 'Get the current price',
    description: 'Get a crypto or stock price.',
    input: input(Input),
    output: output(Output),
    access: { scope: 'a2a:call' },
    effect: 'read',
    advertised: true,
    async run({ symbol, asset_class, currency }, { signal }) {
      const asked = readSymbol(symbol, asset_class, currency)
      const { value: found, at, cache } = await prices.find(asked, signal)
      const age = found.time === null ? null : Math.max(0, clock() - found.time)
      const isOld = age !== null && age > oldest[asked.asset_class]
      return {
        symbol,
        resolved_symbol: asked.resolved,
        asset_class: asked.asset_class,
        price: found.price,
        currency: found.currency,
        quote_time: found.time === null ? null : new Date(found.time).toISOString(),
        age_s: age === null ? null : Math.floor(age / 1000),
        ...(found.delay_min !== undefined && { delay_min: found.delay_min }),
        alternatives: alternativesOf(symbol, asked),
        stale: isOld || cache.stale,
        source: { name: found.name, url: found.url, provider: found.provider },
        fetched_at: new Date(at).toISOString(),
        cache,
        attribution: `Price from ${found.name}`,
        warnings: [...found.warnings, ...warningsOf(found, asked, { currency, isOld, cache })],
        disclaimer: 'Not investment advice; the terms of the source apply.',
      }
    },
  })
}

function warningsOf(
  found: Found,
  asked: Instrument,
  facts: { currency: string; isOld: boolean; cache: Cached<Found>['cache'] },
): string[] {
  const warnings: string[] = []
  if (facts.cache.stale)
    warnings.push(`No source answers now; this price is ${facts.cache.age_s} seconds old.`)
  if (facts.isOld) warnings.push('The last trade is long ago: the market may be closed or thin.')
  if (found.time === null) warnings.push(`${found.name} does not say when the last trade was.`)
  if (found.currency === null) warnings.push(`${found.name} does not say which currency this is.`)
  if (asked.asset_class === 'stock' && facts.currency !== 'USD') {
    warnings.push(`Not converted to ${facts.currency}.`)
  }
  return warnings
}
