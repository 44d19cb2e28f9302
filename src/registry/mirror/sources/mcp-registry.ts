import { hash } from 'node:crypto'
import { z } from 'zod'
import { Failure } from '../../../../schemas/failure.ts'
import { readItems, readServerItem, type SourceItem } from '../source-items.ts'
import { jsonIn, type ReadSource } from './read-source.ts'
import type { MirrorSource, PageRequest, SourcePage } from './source.ts'

const Page = z.looseObject({
  servers: z.array(z.unknown()).nullable(),
  metadata: z.looseObject({ nextCursor: z.string().max(2000).nullish() }).nullish(),
})

/** The largest page that the API gives; where its rows are too large together, smaller ones are asked for. */
const pageSize = 100
const maxPageBytes = 16 * 1024 * 1024
/** Filters of a registry may leave pages without rows, and changes during a run may repeat some. */
const maxIdlePages = 100
/** Two million rows. */
const maxPages = 20_000
const apiVersions = ['/v0.1', '/v0']

/**
 * A registry that speaks the API of the official MCP registry, at its base URL or at one of the API's versions below
 * it (https://github.com/modelcontextprotocol/registry/blob/main/docs/reference/api/generic-registry-api.md).
 */
export function createMcpRegistrySource(url: string, read: ReadSource): MirrorSource {
  const base = url.replace(/\/+$/, '')
  const bases = /\/v0(\.\d+)?$/.test(base) ? [base] : apiVersions.map((version) => `${base}${version}`)
  let chosen: string | undefined = bases.length === 1 ? base : undefined

  async function choose(signal: AbortSignal): Promise<string> {
    for (const candidate of bases) {
      const answer = await read(`${candidate}/servers?limit=1`, maxPageBytes, signal)
      if (answer.status === 200) return candidate
    }
    throw new Failure('upstream_invalid', `${new URL(url).host} has no MCP registry API at /v0.1 or /v0.`)
  }

  async function page(query: PageRequest, cursor: string | null, limit: number): Promise<SourcePage> {
    chosen ??= await choose(query.signal)
    const search = new URLSearchParams({
      limit: String(limit),
      ...(cursor !== null && { cursor }),
      ...(query.since !== null && { updated_since: query.since }),
      ...(query.latest && { version: 'latest' }),
    })
    const address = `${chosen}/servers?${search}`
    try {
      const answer = await read(address, maxPageBytes, query.signal)
      const { success, data } = Page.safeParse(jsonIn(answer, address))
      if (!success) throw new Failure('upstream_invalid', 'The registry answers without a list of servers.')
      const { items, rejected } = readItems(data.servers ?? [], readServerItem)
      return { items, rejected, next: data.metadata?.nextCursor || null, source_time: answer.time }
    } catch (fault) {
      const isTooLarge = fault instanceof Failure && fault.code === 'too_large'
      if (!isTooLarge || limit === 1) throw fault
      return await page(query, cursor, Math.ceil(limit / 4))
    }
  }

  return {
    knows_changes: true,
    resumes: true,
    async *pages(query) {
      const cursors = new Set<string | null>([query.cursor])
      let cursor = query.cursor
      const isNew = createNovelty()
      let idle = 0
      for (;;) {
        const found = await page(query, cursor, pageSize)
        yield found
        if (found.next === null) return
        const hasNews = found.items.filter((item) => isNew(nameOf(item))).length > 0
        idle = hasNews ? 0 : idle + 1
        if (idle > maxIdlePages) {
          throw new Failure(
            'upstream_invalid',
            `The registry gave ${idle} pages one after another without a server that it had not given before, and a cursor to more.`,
          )
        }
        if (cursors.size > maxPages) {
          throw new Failure('too_large', `The registry has more than ${maxPages} pages.`)
        }
        if (cursors.has(found.next)) {
          throw new Failure('upstream_invalid', 'The registry repeats a cursor, so its pages never end.')
        }
        cursors.add(found.next)
        cursor = found.next
      }
    },
  }
}

function nameOf(item: SourceItem): string {
  return item.kind === 'server' ? `${item.key} ${item.document.version}` : item.key
}

/**
 * Says of each text whether it is new, by a table of bits of 2 MiB. After two million texts, one new text in ten counts
 * as an old one; a page of new texts still has new ones.
 */
function createNovelty(): (text: string) => boolean {
  const bits = new Uint8Array(2 ** 21)
  return (text) => {
    const number = hash('sha256', text, 'buffer').readUInt32BE()
    const [at, bit] = [(number >>> 3) % bits.length, 1 << (number & 7)]
    const isNew = ((bits[at] ?? 0) & bit) === 0
    bits[at] = (bits[at] ?? 0) | bit
    return isNew
  }
}
