import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

/** `best` is for what is compressed once and sent for as long as the gateway runs. */
export type Effort = 'fast' | 'best'

/** Low levels are fast: Brotli 4 compresses better than gzip 6, in less time. */
const compressors = {
  br: (bytes: Buffer, effort: Effort) =>
    promisify(brotliCompress)(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: effort === 'best' ? 11 : 4 },
    }),
  gzip: (bytes: Buffer, effort: Effort) => promisify(gzip)(bytes, { level: effort === 'best' ? 9 : 4 }),
}

export type Coding = keyof typeof compressors

/** The codings, the preferred one first. */
const codings = ['br', 'gzip'] as const satisfies readonly Coding[]

/** A shorter answer fits into one packet as it is. */
const minBytes = 1024

export function isWorthCoding(body: string | Buffer): boolean {
  return body.length >= minBytes
}

/** The codings that a client prefers to none, the best one first (RFC 9110 section 12.5.3). */
export function acceptedCodings({ headers }: Pick<IncomingMessage, 'headers'>): Coding[] {
  const header = headers['accept-encoding']
  if (header === undefined) return []
  const weights = weightsIn(String(header))
  const others = weights.get('*') ?? 0
  const identity = weights.get('identity') ?? 0
  const weightOf = (coding: Coding) => weights.get(coding) ?? others
  return codings
    .filter((coding) => weightOf(coding) > 0 && weightOf(coding) >= identity)
    .sort((left, right) => weightOf(right) - weightOf(left))
}

/** A malformed weight refuses its coding. */
function weightsIn(header: string): Map<string, number> {
  return new Map(
    header.split(',').map((stated) => {
      const [name = '', parameter] = stated.split(';', 2).map((part) => part.trim().toLowerCase())
      const weight =
        parameter === undefined ? 1 : Number(/^q=([01](?:\.\d{0,3})?)$/.exec(parameter)?.[1] ?? 0)
      return [name, weight]
    }),
  )
}

export function compress(bytes: Buffer, coding: Coding, effort: Effort = 'fast'): Promise<Buffer> {
  return compressors[coding](bytes, effort)
}

/** Each coding has a validator of its own (RFC 9110 section 8.8.3.3). */
export function codedTag(etag: string, coding: Coding): string {
  return `${etag.slice(0, -1)}-${coding}"`
}

/** An answer as it is sent. */
export interface Written {
  readonly bytes: Buffer
  readonly etag: string
  readonly coding?: Coding
}

/** An answer that every caller gets, and its compressed forms, each made when it is first requested. */
export class Answer {
  readonly plain: Written
  readonly #compressed = new Map<Coding, Written | Promise<Written>>()

  constructor(text: string) {
    const bytes = Buffer.from(text)
    const digest = createHash('sha256').update(bytes).digest('base64url').slice(0, 16)
    this.plain = { bytes, etag: `"${digest}"` }
  }

  /** The answer in the best coding that the client accepts. */
  acceptedBy(request: Pick<IncomingMessage, 'headers'>): Written | Promise<Written> {
    if (!isWorthCoding(this.plain.bytes)) return this.plain
    const [coding] = acceptedCodings(request)
    return coding ? this.#in(coding) : this.plain
  }

  #in(coding: Coding): Written | Promise<Written> {
    const made = this.#compressed.get(coding)
    if (made !== undefined) return made
    const { bytes, etag } = this.plain
    const written = compress(bytes, coding).then((compressed) => ({
      bytes: compressed,
      etag: codedTag(etag, coding),
      coding,
    }))
    this.#compressed.set(coding, written)
    return written.then((done) => {
      this.#compressed.set(coding, done)
      return done
    })
  }
}
