import type { JsonObject } from '../../schemas/json.ts'
import { askRegistry } from './send.ts'

const pageSize = 100

interface Question {
  readonly action: string
  readonly params?: JsonObject
  /** Maximum items. */
  readonly limit: number
}

/** Reads a list page by page up to the limit; `cursor` is null if there are no more items. */
export async function readPages<Page extends { readonly next_cursor: string | null }, Item>(
  { action, params, limit }: Question,
  itemsOf: (page: Page) => readonly Item[],
): Promise<{ readonly items: readonly Item[]; readonly cursor: string | null }> {
  const items: Item[] = []
  let cursor: string | null = null
  do {
    const page: Page = await askRegistry<Page>(action, {
      ...params,
      limit: Math.min(pageSize, limit - items.length),
      ...(cursor !== null && { cursor }),
    })
    items.push(...itemsOf(page))
    cursor = page.next_cursor
  } while (cursor !== null && items.length < limit)
  return { items, cursor }
}
