import { catalogType, registryType } from '../../../../schemas/ard.ts'
import { Failure } from '../../../../schemas/failure.ts'
import { isRecord } from '../../../../schemas/json.ts'
import { keyOf } from '../source-items.ts'
import { jsonIn, type ReadSource } from './read-source.ts'

/** An entry of a catalog, unchecked, with its identifier as it is stated. */
export interface ArdItem {
  readonly key: string
  readonly document: Readonly<Record<string, unknown>>
  /** Address of the document that states it. */
  readonly base: string
}

/** Bounds of one reading. A reading beyond a bound fails: a part of a source would look like removed agents. */
export interface ArdLimits {
  readonly max_entries: number
  readonly max_documents: number
  readonly max_bytes: number
}

const standardLimits: ArdLimits = {
  max_entries: 200_000,
  max_documents: 5_000,
  max_bytes: 512 * 1024 * 1024,
}

interface ArdRequest {
  readonly read: ReadSource
  /** A site, a catalog, or the base of an ARD API. */
  readonly url: string
  readonly signal: AbortSignal
  readonly limits?: ArdLimits
}

/** Catalogs below the first one that are followed (AI Catalog, section on nesting). */
const maxDepth = 4
const maxDocumentBytes = 16 * 1024 * 1024
const maxToken = 4000
const pageSize = 100
const catalogTypes: ReadonlySet<unknown> = new Set([catalogType, 'application/ai-catalog'])
const registryTypes: ReadonlySet<unknown> = new Set([registryType, 'application/ai-registry'])

/**
 * Reads every entry of an ARD source once, by its identifier: the entries of its catalog, of catalogs that it nests,
 * and of the registry on the same site that it names. Throws Failure `upstream_…` and `too_large`.
 */
export function readArd({ read, url, signal, limits = standardLimits }: ArdRequest): AsyncGenerator<ArdItem> {
  return new ArdReader(read, signal, limits).entries(url)
}

class ArdReader {
  readonly #read: ReadSource
  readonly #signal: AbortSignal
  readonly #limits: ArdLimits
  readonly #visited = new Set<string>()
  readonly #seen = new Set<string>()
  #bytes = 0

  constructor(read: ReadSource, signal: AbortSignal, limits: ArdLimits) {
    this.#read = read
    this.#signal = signal
    this.#limits = limits
  }

  async *entries(url: string): AsyncGenerator<ArdItem> {
    const base = url.replace(/\/+$/, '')
    const candidates = [
      url,
      `${base}/agents?pageSize=${pageSize}`,
      new URL('/.well-known/ard.json', url).href,
      new URL('/.well-known/ai-catalog.json', url).href,
    ]
    for (const [index, address] of candidates.entries()) {
      const document = await this.#document(address, index < candidates.length - 1)
      if (isRecord(document) && Array.isArray(document.entries)) {
        return yield* this.#catalog(document.entries, address, 0)
      }
      if (isList(document)) return yield* this.#list(index === 0 ? url : `${base}/agents`, document)
    }
    throw new Failure('upstream_invalid', `${new URL(url).host} has no ard.json, and no ARD registry there.`)
  }

  async *#catalog(entries: readonly unknown[], base: string, depth: number): AsyncGenerator<ArdItem> {
    for (const entry of entries) {
      if (!isRecord(entry)) continue
      const type = mediaTypeOf(entry)
      if (catalogTypes.has(type)) yield* this.#nested(entry, base, depth + 1)
      else if (registryTypes.has(type)) yield* this.#registry(entry, base)
      else yield* this.#entry(entry, base)
    }
  }

  async *#nested(
    { url, data }: Readonly<Record<string, unknown>>,
    base: string,
    depth: number,
  ): AsyncGenerator<ArdItem> {
    if (depth > maxDepth) return
    if (isRecord(data) && Array.isArray(data.entries)) yield* this.#catalog(data.entries, base, depth)
    const address = addressIn(url, base)
    if (address === undefined || this.#visited.has(address)) return
    const document = await this.#document(address)
    if (document === undefined) return
    if (!isRecord(document) || !Array.isArray(document.entries)) throw invalid(address, 'is not a catalog')
    yield* this.#catalog(document.entries, address, depth)
  }

  /** A registry elsewhere is a source of its own, which the operator has not asked for. */
  async *#registry({ url }: Readonly<Record<string, unknown>>, base: string): AsyncGenerator<ArdItem> {
    const address = addressIn(url, base)
    if (address === undefined || new URL(address).origin !== new URL(base).origin) return
    const list = `${address.replace(/\/+$/, '').replace(/\/search$/, '')}/agents`
    if (this.#visited.has(list)) return
    this.#visited.add(list)
    const first = await this.#document(`${list}?pageSize=${pageSize}`)
    // The list is optional in ARD.
    if (isList(first)) yield* this.#list(list, first)
  }

  async *#list(address: string, first: Readonly<Record<string, unknown>>): AsyncGenerator<ArdItem> {
    const tokens = new Set<string>()
    let page = first
    while (true) {
      for (const entry of rowsOf(page) ?? []) if (isRecord(entry)) yield* this.#entry(entry, address)
      const { pageToken } = page
      if (typeof pageToken !== 'string' || pageToken === '') return
      if (tokens.has(pageToken) || pageToken.length > maxToken) throw invalid(address, 'repeats its pages')
      tokens.add(pageToken)
      const next = new URL(address)
      next.searchParams.set('pageSize', String(pageSize))
      next.searchParams.set('pageToken', pageToken)
      const document = await this.#document(next.href)
      if (!isList(document)) throw invalid(next.href, 'is not a page of the list')
      page = document
    }
  }

  *#entry(document: Readonly<Record<string, unknown>>, base: string): Generator<ArdItem> {
    const { identifier } = document
    const key = keyOf(typeof identifier === 'string' ? identifier.slice(0, 500) : '')
    if (key !== 'unnamed' && this.#seen.has(key)) return
    this.#seen.add(key)
    if (this.#seen.size > this.#limits.max_entries) {
      throw new Failure('too_large', `It lists more than ${this.#limits.max_entries} entries.`)
    }
    yield { key, document, base }
  }

  /** The JSON at an address; undefined where nothing is, or, if `isTry`, nothing that is JSON. */
  async #document(address: string, isTry = false): Promise<unknown> {
    this.#signal.throwIfAborted()
    this.#visited.add(address)
    if (this.#visited.size > this.#limits.max_documents) {
      throw new Failure('too_large', `It has more than ${this.#limits.max_documents} documents.`)
    }
    const answer = await this.#read(address, maxDocumentBytes, this.#signal)
    this.#bytes += answer.body.length
    if (this.#bytes > this.#limits.max_bytes) {
      throw new Failure('too_large', `It has more than ${this.#limits.max_bytes} bytes.`)
    }
    if ([404, 410, 501].includes(answer.status)) return undefined
    try {
      return jsonIn(answer, address)
    } catch (fault) {
      if (isTry) return undefined
      throw fault
    }
  }
}

/** Older catalogs name the type `mediaType`. */
export function mediaTypeOf({ type, mediaType }: Readonly<Record<string, unknown>>): unknown {
  return type ?? mediaType
}

/** Some registries answer the list with `results` in place of `items`. */
function rowsOf({ items, results }: Readonly<Record<string, unknown>>): readonly unknown[] | undefined {
  return [items, results].find((rows) => Array.isArray(rows))
}

function isList(document: unknown): document is Readonly<Record<string, unknown>> {
  return isRecord(document) && rowsOf(document) !== undefined
}

function addressIn(value: unknown, base: string): string | undefined {
  const url = typeof value === 'string' && value.length <= 2048 ? URL.parse(value, base) : null
  if (!url || !/^https?:$/.test(url.protocol)) return undefined
  url.hash = ''
  return url.href
}

function invalid(address: string, what: string): Failure {
  return new Failure('upstream_invalid', `${address.slice(0, 300)} ${what}.`)
}
