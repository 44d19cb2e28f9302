import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { LRUCache } from 'lru-cache'

const compressors = {
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes),
}
type Coding = keyof typeof compressors
const codings = ['br', 'gzip'] as const satisfies readonly Coding[]

/** Compresses better than gzip, in less time. */
const brotliQuality = 4
/** A shorter answer fits into one packet as it is. */
const minCompressed = 1024

/** An answer as it is sent; each coding has a validator of its own (RFC 9110 section 8.8.3.3). */
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
  acceptedBy({ headers }: IncomingMessage): Written | Promise<Written> {
    const accepted = headers['accept-encoding']
    if (accepted === undefined || this.plain.bytes.length < minCompressed) return this.plain
    const coding = codings.find((name) => accepts(String(accepted), name))
    return coding ? this.#in(coding) : this.plain
  }

  #in(coding: Coding): Written | Promise<Written> {
    const made = this.#compressed.get(coding)
    if (made !== undefined) return made
    const { bytes, etag } = this.plain
    const written = compressors[coding](bytes).then((compressed) => ({
      bytes: compressed,
      etag: `${etag.slice(0, -1)}-${coding}"`,
      coding,
    }))
    this.#compressed.set(coding, written)
    return written.then((done) => {
      this.#compressed.set(coding, done)
      return done
    })
  }
}

/** RFC 9110 section 12.5.3; a weight of zero refuses the coding. */
function accepts(header: string, coding: Coding): boolean {
  return header.split(',').some((stated) => {
    const [name = '', weight = ''] = stated
      .trim()
      .toLowerCase()
      .split(/\s*;\s*q=/)
    return name === coding && !/^0(?:\.0*)?$/.test(weight)
  })
}

const maxBytes = 32 * 1024 * 1024
/** Changes of other processes are seen after this time at the latest, in milliseconds. */
const maxAge = 2000

/** The last answers, while the registry stays in the state in which they were made. */
export class AnswerCache {
  readonly #answers = new LRUCache<string, { readonly state: string; readonly answer: Answer }>({
    maxSize: maxBytes,
    // The compressed forms are smaller.
    sizeCalculation: ({ answer }, question) => 2 * (answer.plain.bytes.length + question.length) + 500,
    ttl: maxAge,
    // With the standard resolution of a millisecond the cache sets a timer for nearly every request.
    ttlResolution: 100,
  })

  recall(question: string, state: string): Answer | undefined {
    const found = this.#answers.get(question)
    return found?.state === state ? found.answer : undefined
  }

  offer(question: string, state: string, answer: Answer): void {
    this.#answers.set(question, { state, answer })
  }
}
