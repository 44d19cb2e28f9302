import { z } from 'zod'
import { Failure } from '../../schemas/failure.ts'
import type { Fetch } from './port.ts'
import type { Instrument } from './symbol.ts'

/** A price as its source gave it. */
export interface Quote {
  /** The source's own decimal digits. */
  readonly price: string
  readonly currency: string | null
  /** Time of the trade, in milliseconds since the epoch; null where the source gives none. */
  readonly time: number | null
  readonly url: string
  readonly delay_min?: number
}

/** A source of prices. */
export interface Provider<Asked extends Instrument> {
  readonly id: string
  readonly name: string
  /** Null for a symbol the source does not know. Throws Failure `upstream_…` for anything unexpected. */
  quote(asked: Asked, signal: AbortSignal): Promise<Quote | null>
}

/** A number above zero, in plain decimal digits. */
export const Price = z
  .string()
  .regex(/^\d{1,20}(\.\d{1,30})?$/)
  .refine((price) => Number(price) > 0)

export interface Answer {
  readonly status: number
  /** The JSON of the body, numbers as their digits; undefined where the body is not JSON. */
  readonly json: unknown
}

/** Asks a source within 2.5 seconds. Throws Failure `upstream_failed` for 429 and 5xx, and what fetch throws. */
export async function ask(
  fetch: Fetch,
  request: { url: string; headers?: Readonly<Record<string, string>>; signal: AbortSignal },
): Promise<Answer> {
  const { status, headers, body } = await fetch({
    ...request,
    headers: { accept: 'application/json', ...request.headers },
    max_bytes: 200_000,
    timeout_ms: 2_500,
  })
  if (status === 429 || status >= 500) {
    const seconds = headers['retry-after']
    const pause = seconds && /^\d{1,6}$/.test(seconds) ? { retry_after_s: Number(seconds) } : {}
    throw new Failure('upstream_failed', `HTTP ${status}`, { upstream: { status }, ...pause })
  }
  return { status, json: parse(body) }
}

/** Reads an answer that must be a 200 of this type. Throws Failure `upstream_failed` or `upstream_invalid`. */
export function expectAnswer<T>(type: z.ZodType<T>, { status, json }: Answer): T {
  if (status !== 200) throw new Failure('upstream_failed', `HTTP ${status}`, { upstream: { status } })
  const result = type.safeParse(json)
  if (result.success) return result.data
  throw new Failure('upstream_invalid', 'an answer that makes no sense', {}, result.error)
}

/** The base address of a source with a path below it. */
export function under(base: string, path: string): string {
  return base.replace(/\/+$/, '') + path
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
