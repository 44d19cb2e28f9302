import { z } from 'zod'
import { Failure } from '../../../schemas/failure.ts'
import type { AskUpstream, UpstreamCall } from '../../../src/common/upstream.ts'
import type { Instrument } from '../symbol.ts'

/** A price as the source returned it. */
export interface Quote {
  /** The source's own decimal digits. */
  readonly price: string
  readonly currency: string | null
  /** Time of the trade, in milliseconds since the epoch; null if the source states none. */
  readonly time: number | null
  /** URL of the price, without the key. */
  readonly url: string
  /** The instrument of the price, if it differs from the requested one. */
  readonly resolved?: string
  readonly delay_min?: number
  readonly market_state?: string
  /** Warnings about this price. */
  readonly source_warnings?: readonly string[]
}

/** A source of prices. */
export interface Provider<Requested extends Instrument> {
  readonly id: string
  readonly name: string
  /**
   * Null for an instrument that the source does not know or does not cover. Throws Failure `upstream_…` for an
   * unexpected answer, `circuit_open` while the circuit of the source is open, `rate_limited` while its limit is
   * reached.
   */
  quote(instrument: Requested, call: UpstreamCall): Promise<Quote | null>
}

/** Access to a source. */
export interface PriceSource {
  readonly ask: AskUpstream
  /** Base address. */
  readonly url: string
}

export interface KeyedSource extends PriceSource {
  readonly key: string
}

/** A number above zero, in plain decimal digits. */
export const Price = z.string().transform((text, context) => {
  const price = plainDecimal(text)
  if (price !== undefined && /[1-9]/.test(price)) return price
  context.addIssue('This is not a price.')
  return z.NEVER
})

/** Whole seconds since the epoch, as milliseconds. */
export const Seconds = z
  .string()
  .regex(/^[1-9]\d{8,10}$/)
  .transform((seconds) => Number(seconds) * 1000)

export interface JsonAnswer {
  readonly status: number
  /** The JSON of the body, numbers as their digits; undefined if the body is not JSON. */
  readonly json: unknown
}

/** Asks a source within 2.5 seconds and reads its JSON. Throws the errors of `ask` and `read`. */
export function askJson<Value>(
  ask: AskUpstream,
  request: UpstreamCall & { url: string; headers?: Readonly<Record<string, string>> },
  read: (answer: JsonAnswer) => Value,
): Promise<Value> {
  const headers = { accept: 'application/json', ...request.headers }
  return ask({ ...request, headers, max_bytes: 200_000, timeout_ms: 2_500 }, ({ status, body }) =>
    read({ status, json: parse(body) }),
  )
}

/** Reads an answer that must be a 200 of this type. Throws Failure `upstream_failed` or `upstream_invalid`. */
export function expectAnswer<T>(type: z.ZodType<T>, { status, json }: JsonAnswer): T {
  if (status !== 200) throw new Failure('upstream_failed', `HTTP ${status}`, { upstream: { status } })
  const result = type.safeParse(json)
  if (result.success) return result.data
  throw new Failure('upstream_invalid', 'an answer of unexpected form')
}

/** Throws Failure `upstream_invalid` unless the answer is about the requested instrument. */
export function expectSame(answered: string, instrument: string): void {
  if (answered.toUpperCase() !== instrument.toUpperCase()) {
    throw new Failure('upstream_invalid', 'the price of something else')
  }
}

/** The base address of a source with a path below it and a query. */
export function under(base: string, path: string, query: Readonly<Record<string, string>> = {}): string {
  const search = new URLSearchParams(query).toString()
  return base.replace(/\/+$/, '') + path + (search && `?${search}`)
}

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown
const parseJson = JSON.parse as (text: string, reviver: Reviver) => unknown

function parse(body: Uint8Array): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body)
    return parseJson(text, (_, value, { source }) => (typeof value === 'number' ? source : value))
  } catch {
    return undefined
  }
}

const number = /^(\d{1,20})(?:\.(\d{1,40}))?(?:[eE]([+-]?\d{1,2}))?$/

/**
 * A JSON number or a decimal as plain digits, without conversion to a float: `1.5e-7` is `0.00000015`. Undefined for a
 * sign and for other texts.
 */
function plainDecimal(text: string): string | undefined {
  const [, whole, fraction = '', exponent] = number.exec(text) ?? []
  if (whole === undefined) return undefined
  if (exponent === undefined) return text
  const digits = whole + fraction
  const point = whole.length + Number(exponent)
  if (point <= 0) return `0.${'0'.repeat(-point)}${digits}`
  const left = digits
    .slice(0, point)
    .padEnd(point, '0')
    .replace(/^0+(?=\d)/, '')
  const right = digits.slice(point)
  return right === '' ? left : `${left}.${right}`
}
