import { LRUCache } from 'lru-cache'
import type { Clock } from '../../src/common/clock.ts'
import { type Document, type DocumentPorts, type DocumentRequest, readDocument } from './document.ts'

/** Recently read documents, so that all parts of a page come from one reading. */
export interface DocumentCache {
  /** Throws the errors of the reading. */
  read(request: DocumentRequest, signal: AbortSignal): Promise<CacheHit>
}

export interface CacheHit {
  readonly document: Document
  /** False for a document that was just read. */
  readonly hit: boolean
  readonly age_s: number
}

const maxAge_ms = 60_000
const maxCharacters = 16_000_000

export function createDocumentCache(ports: DocumentPorts): DocumentCache {
  const documents = new LRUCache<string, Document>({
    maxSize: maxCharacters,
    sizeCalculation: ({ content }) => content.length + 2_000,
  })
  return {
    async read(request, signal) {
      const key = keyOf(request)
      const cached = documents.get(key)
      if (cached && isFresh(cached, ports.clock)) return cacheHit(cached, ports.clock, true)
      const document = await readDocument(ports, request, signal)
      documents.set(key, document)
      return cacheHit(document, ports.clock, false)
    },
  }
}

/** Key of all inputs that change the result of a reading. */
export function keyOf({
  url,
  format,
  include_links,
  include_images,
  selector,
  mode,
}: Omit<DocumentRequest, 'caller'>): string {
  return JSON.stringify([
    url,
    format,
    include_links ?? true,
    include_images ?? true,
    selector ?? null,
    mode ?? 'main',
  ])
}

function isFresh({ fetched_at }: Document, clock: Clock): boolean {
  return clock() - fetched_at < maxAge_ms
}

function cacheHit(document: Document, clock: Clock, hit: boolean): CacheHit {
  return { document, hit, age_s: Math.max(0, Math.round((clock() - document.fetched_at) / 1000)) }
}
