import type { PostingList } from '../../common/postings.ts'
import { isProduct } from '../query/product-names.ts'
import { takeBest } from './best.ts'
import type { Reading } from './query-reader.ts'
import type { Scoreboard } from './scoreboard.ts'
import type { StoredDocument } from './stored-documents.ts'
import type { WeighedTerm } from './text-index.ts'

/** A product or a company, folded, and the entries whose texts have it. */
interface Product {
  readonly name: string
  readonly list: PostingList
}

/** The products that a query names. */
export function productsIn({ terms }: Reading, weighed: readonly WeighedTerm[]): Product[] {
  return weighed.flatMap(({ list }, at) => {
    const name = [...(terms[at]?.words ?? [])].find(isProduct)
    return name === undefined ? [] : { name, list }
  })
}

/**
 * Where the first `count` hits all lack one of several products, its best entry becomes the last of them, one with the
 * product in its name if there is one: whoever moves notes from Notion to Google Sheets needs both, and "Google Sheets"
 * alone has twice the words.
 */
export function showEveryProduct(
  board: Scoreboard,
  products: readonly Product[],
  describe: (slot: number) => StoredDocument,
  count: number,
): void {
  if (products.length < 2) return
  const [last, beforeLast, ...others] = takeBest(board, describe, count, undefined).toReversed()
  if (!last || !beforeLast) return
  const first = [last, beforeLast, ...others]
  const raised = (Number(last.position.key) + Number(beforeLast.position.key)) / 2
  for (const { name, list } of products) {
    if (first.some(({ slot }) => list.has(slot))) continue
    const all = Array.from(list.slots.subarray(0, list.size))
    const best = board.bestOf(all.filter((slot) => isNamed(describe(slot), name))) ?? board.bestOf(all)
    if (best !== undefined) board.set(best, raised)
  }
}

function isNamed({ name, package_name }: StoredDocument, product: string): boolean {
  return `${name} ${package_name}`.toLowerCase().includes(product)
}
