import { askRegistry } from './send.ts'

const pageSize = 100

interface Question {
  readonly action: string
  readonly params?: object
  /** Maximum items; all of them when absent. */
  readonly limit?: number
}

/** Reads a list page by page up to the limit; the cursor of the `last` page is null if there are no more items. */
export async function readPages<Page extends { readonly next_cursor: string | null }, Item>(
  { action, params, limit = Number.POSITIVE_INFINITY }: Question,
  itemsOf: (page: Page) => readonly Item[],
): Promise<{ readonly items: readonly Item[]; readonly last: Page }> {
  const items: Item[] = []
  for (let cursor: string | undefined; ; ) {
    const size = Math.min(pageSize, limit - items.length)
    const last: Page = await askRegistry<Page>(action, { ...params, limit: size, cursor })
    items.push(...itemsOf(last))
    if (last.next_cursor === null || items.length >= limit) return { items, last }
    cursor = last.next_cursor
  }
}
