import { z } from 'zod'
import { Failure } from '../../../../schemas/failure.ts'
import { readItems, readServerItem } from '../source-items.ts'
import { jsonIn, type ReadSource } from './read-source.ts'
import type { MirrorSource, PageRequest, SourcePage } from './source.ts'

const Page = z.looseObject({
  servers: z.array(z.unknown()).nullable(),
  metadata: z.looseObject({ nextCursor: z.string().max(2000).nullish() }).nullish(),
})

/** The largest page that the API gives; where its rows are too large together, smaller ones are asked for. */
const pageSize = 100
const maxPageBytes = 16 * 1024 * 1024
/** Filters of a registry may leave pages without rows. */
const maxEmptyPages = 100
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
      let empty = 0
      for (;;) {
        const found = await page(query, cursor, pageSize)
        yield found
        empty = found.items.length + found.rejected.length === 0 ? empty + 1 : 0
        if (empty > maxEmptyPages) {
          throw new Failure('upstream_invalid', 'The registry has pages without servers that do not end.')
        }
        if (found.next === null) return
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
