import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { input, output } from '../../schemas/shape.ts'
import { CacheState, Source } from '../../schemas/source.ts'
import type { Clock } from '../../src/common/clock.ts'
import { dayMilliseconds } from '../../src/common/days.ts'
import { upstreamCallOf } from '../../src/common/upstream.ts'
import type { FoundPrice } from './chain.ts'
import type { Prices } from './prices.ts'
import { type AssetClass, alternativesOf, assetClasses, type Instrument, readSymbol } from './symbol.ts'

const AssetClassName = z.enum(assetClasses).meta({ id: 'AssetClass' })

const Input = z.strictObject({
  symbol: z
    .string()
    .min(1)
    .max(24)
    .transform((symbol) => symbol.normalize('NFKC').trim())
    .pipe(z.string().regex(/^[A-Za-z0-9.^=\-/]{1,24}$/, 'Use letters, digits and . ^ = - / only.'))
    .transform((symbol) => symbol.toUpperCase())
    .describe(
      'Stock or crypto ticker, pair, exchange rate or index: AAPL, BRK.B, BTC, ETH-EUR, EURUSD=X, ^GSPC.',
    )
    .meta({ examples: ['BTC'] }),
  asset_class: AssetClassName.optional().describe('The class that you mean, if the symbol has several.'),
  currency: z
    .string()
    .regex(/^[A-Za-z]{3,5}$/, 'Use a code such as USD.')
    .default('USD')
    .transform((currency) => currency.toUpperCase())
    .describe('Currency of the price of a bare crypto ticker; nothing is converted.'),
  cross_check: z
    .boolean()
    .default(false)
    .describe('Ask a second source too, and warn if the two differ by over 2 %.'),
})

const Output = z
  .object({
    symbol: z.string().describe('As requested.'),
    resolved_symbol: z.string(),
    asset_class: AssetClassName,
    price: z.string().describe("The source's own decimal digits."),
    currency: z.string().nullable().describe('Null if the source does not state it.'),
    quote_time: z.iso
      .datetime()
      .nullable()
      .describe('Time of the trade; null if the source does not state it.'),
    age_s: z.int().nonnegative().nullable().describe('Seconds since the trade.'),
    market_state: z
      .string()
      .optional()
      .describe('REGULAR, PRE, POST, CLOSED, or REFERENCE for a rate that is fixed once a day.'),
    delay_min: z.number().optional().describe('Delay of the source in minutes.'),
    compared_with: z
      .object({ provider: z.string(), price: z.string(), currency: z.string().nullable() })
      .optional()
      .describe('The price of a second source.'),
    alternatives: z
      .array(z.object({ symbol: z.string(), asset_class: AssetClassName }))
      .describe('Other meanings of the symbol.'),
    stale: z.boolean(),
    source: Source,
    fetched_at: z.iso.datetime(),
    cache: CacheState,
    license: z.string().optional(),
    attribution: z.string().optional(),
    warnings: z.array(z.string()),
    disclaimer: z.string(),
  })
  .meta({ id: 'Price' })

/** Milliseconds after which a trade is no longer the current price; markets close over long weekends. */
const maxAge: Readonly<Record<AssetClass, number>> = {
  crypto: 15 * 60_000,
  stock: 4 * dayMilliseconds,
  fx: 5 * dayMilliseconds,
  index: 4 * dayMilliseconds,
}

/** Action `get_current_price`. Throws Failure `invalid_request`, `not_found`, `not_configured`, `circuit_open`, `rate_limited`, `upstream_…`. */
export function getCurrentPrice(
  prices: Prices,
  clock: Clock,
): Action<z.output<typeof Input>, z.output<typeof Output>> {
  return defineAction({
    name: 'get_current_price',
    title: 'Get the current price',
    description: 'Get a crypto, stock, currency or index price.',
    input: input(Input),
    output: output(Output),
    access: { scope: 'a2a:call' },
    effect: 'read',
    advertised: true,
    tool: {
      description: `Gets the current price of a ${servedBy(prices)}. Example: {"symbol": "BTC"}.`,
      input: input(Input.pick({ symbol: true, asset_class: true })),
    },
    async run({ symbol, asset_class, currency, cross_check }, context) {
      const instrument = readSymbol(symbol, asset_class, currency)
      const call = upstreamCallOf(context)
      const { value: found, at, cache, in_trouble } = await prices.find(instrument, cross_check, call)
      const age = found.time === null ? null : Math.max(0, clock() - found.time)
      const is_old = age !== null && age > maxAge[instrument.asset_class]
      const trouble_s = in_trouble ? cache.age_s : null
      return {
        symbol,
        resolved_symbol: found.resolved ?? instrument.resolved,
        asset_class: instrument.asset_class,
        price: found.price,
        currency: found.currency,
        quote_time: found.time === null ? null : new Date(found.time).toISOString(),
        age_s: age === null ? null : Math.floor(age / 1000),
        ...(found.market_state !== undefined && { market_state: found.market_state }),
        ...(found.delay_min !== undefined && { delay_min: found.delay_min }),
        ...(found.compared && { compared_with: found.compared }),
        alternatives: alternativesOf(symbol, instrument),
        stale: is_old || cache.stale,
        source: { name: found.name, url: found.url, provider: found.provider },
        fetched_at: new Date(at).toISOString(),
        cache,
        attribution: `Price from ${found.name}`,
        warnings: [...found.warnings, ...warningsOf(found, instrument, { currency, is_old, trouble_s })],
        disclaimer: 'Not investment advice; the terms of the source apply.',
      }
    },
  })
}

const classNames: Readonly<Record<AssetClass, string>> = {
  stock: 'stock',
  crypto: 'cryptocurrency',
  fx: 'exchange rate',
  index: 'index',
}

/** What has a configured source, so that a model takes another tool for the rest. */
function servedBy({ unserved }: Prices): string {
  const served = (Object.keys(classNames) as AssetClass[]).filter((name) => !unserved.includes(name))
  return new Intl.ListFormat('en', { type: 'disjunction' }).format(served.map((name) => classNames[name]))
}

/** Currencies that are quoted in hundredths. */
const hundredths: Readonly<Record<string, string>> = { GBp: 'GBP', GBX: 'GBP', ZAc: 'ZAR', ILA: 'ILS' }

function warningsOf(
  found: FoundPrice,
  instrument: Instrument,
  facts: { readonly currency: string; readonly is_old: boolean; readonly trouble_s: number | null },
): string[] {
  const { name, time, currency } = found
  const warnings = [...(found.source_warnings ?? [])]
  if (facts.trouble_s !== null) {
    warnings.push(`No source answers now; this price is ${facts.trouble_s} seconds old.`)
  }
  if (facts.is_old) warnings.push('The last trade was long ago: the market may be closed or thin.')
  if (time === null) warnings.push(`${name} does not state the time of the last trade.`)
  if (currency === null) warnings.push(`${name} does not state the currency of the price.`)
  const whole = hundredths[currency ?? '']
  if (whole !== undefined) warnings.push(`The price is in hundredths: 100 ${currency} are 1 ${whole}.`)
  if ('quote' in instrument && currency !== instrument.quote) {
    warnings.push(`The price is in ${currency}, which is not ${instrument.quote}.`)
  }
  const isOwn = instrument.asset_class === 'stock' || instrument.asset_class === 'index'
  if (isOwn && facts.currency !== 'USD') warnings.push(`Not converted to ${facts.currency}.`)
  return warnings
}
