import { z } from 'zod'
import { Failure } from '../../../../schemas/failure.ts'
import { maxManifestBytes } from '../../cards/fetch-card.ts'
import { readDocument } from '../../import/read-line.ts'
import type { Rejection, SourceItem } from '../source-items.ts'
import { jsonIn, type ReadSource } from './read-source.ts'
import type { MirrorSource } from './source.ts'

const maxListBytes = 4 * 1024 * 1024
const maxCards = 10_000
const pageCards = 20
const CardUrls = z.array(z.url({ protocol: /^https?$/ }).max(2048)).max(maxCards)

/** A list of URLs of A2A cards: a JSON array, or one URL a line. Each card is fetched. */
export function createCardsSource(url: string, read: ReadSource): MirrorSource {
  async function cardAt(address: string, signal: AbortSignal): Promise<SourceItem> {
    const card = jsonIn(await read(address, maxManifestBytes, signal), address)
    const facts = readDocument({ ...(card as object), wellKnownURI: address })
    return {
      kind: 'agent',
      key: address,
      facts: { ...facts, card: card as Record<string, unknown> },
    }
  }

  return {
    knows_changes: false,
    resumes: false,
    async *pages({ signal }) {
      const urls = readUrls(await read(url, maxListBytes, signal), url)
      for (let start = 0; start === 0 || start < urls.length; start += pageCards) {
        const items: SourceItem[] = []
        const rejected: Rejection[] = []
        for (const address of urls.slice(start, start + pageCards)) {
          try {
            items.push(await cardAt(address, signal))
          } catch (fault) {
            signal.throwIfAborted()
            rejected.push({ key: address, reason: fault instanceof Error ? fault.message.slice(0, 500) : '' })
          }
        }
        yield { items, rejected, next: start + pageCards < urls.length ? String(start) : null }
      }
    },
  }
}

function readUrls(answer: Parameters<typeof jsonIn>[0], url: string): string[] {
  const text = new TextDecoder().decode(answer.body).trim()
  const stated = text.startsWith('[')
    ? jsonIn(answer, url)
    : text.split(/\s+/).filter((line) => line && !line.startsWith('#'))
  const { success, data } = CardUrls.safeParse(stated)
  if (answer.status !== 200 || !success) {
    throw new Failure('upstream_invalid', `${new URL(url).host} does not answer with a list of URLs.`)
  }
  return data
}
