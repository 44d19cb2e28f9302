import { LRUCache } from 'lru-cache'
import type { Clock } from '../../src/common/clock.ts'
import { type Document, type DocumentPorts, type Request, readDocument } from './document.ts'

/** Documents read lately, so that the parts of one page are parts of one reading. */
export interface Library {
  /** Throws what reading throws. */
  read(request: Request, signal: AbortSignal): Promise<CacheHit>
}

export interface CacheHit {
  readonly document: Document
  readonly hit: boolean
  readonly age_s: number
}

const keptFor = 60_000
const mostCharacters = 16_000_000

export function createLibrary(ports: DocumentPorts): Library {
  const shelf = new LRUCache<string, Document>({
    maxSize: mostCharacters,
    sizeCalculation: ({ content }) => content.length + 2_000,
  })
  return {
    async read(request, signal) {
      const key = keyOf(request)
      const kept = shelf.get(key)
      if (kept && isFresh(kept, ports.clock)) return loan(kept, ports.clock, true)
      const document = await readDocument(ports, request, signal)
      shelf.set(key, document)
      return loan(document, ports.clock, false)
    },
  }
}

/** All that makes one reading differ from another. */
export function keyOf({
  url,
  format,
  include_links,
  include_images,
  selector,
  mode,
}: Omit<Request, 'caller'>): string {
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
  return clock() - fetched_at < keptFor
}

function loan(document: Document, clock: Clock, hit: boolean): CacheHit {
  return { document, hit, age_s: Math.max(0, Math.round((clock() - document.fetched_at) / 1000)) }
}
