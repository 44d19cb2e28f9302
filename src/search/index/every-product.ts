import type { PostingList } from '../../common/postings.ts'
import { isProduct } from '../query/product-names.ts'
import { takeBest } from './best.ts'
import { packageParts, withoutNamespace } from './document-terms.ts'
import type { Reading } from './query-reader.ts'
import type { Scoreboard } from './scoreboard.ts'
import type { StoredDocument } from './stored-documents.ts'
import type { WeighedTerm } from './text-index.ts'

/** A product or a company, folded, and the entries whose texts have it. */
interface Product {
  readonly name: string
  readonly list: PostingList
}

/** Names of agents that leave it to their namespace to say what they are of: `com.notion/mcp`. */
const general = /^(?:official|remote|mcp|server|api|agent|[-_.])+$/

/** The products that a query names. */
export function productsIn({ terms }: Reading, weighed: readonly WeighedTerm[]): Product[] {
  return weighed.flatMap(({ list }, at) => {
    const name = [...(terms[at]?.words ?? [])].find(isProduct)
    return name === undefined ? [] : { name, list }
  })
}

/**
 * Where none of the first `count` hits is of one of the products, the best entry of it becomes the last of them, one with
 * the product in its own name if there is one. Whoever moves notes from Notion to Google Sheets needs both, and "Google
 * Sheets" alone has twice the words; whoever runs tests with Playwright has no use for another runner.
 */
export function showEveryProduct(
  board: Scoreboard,
  products: readonly Product[],
  describe: (slot: number) => StoredDocument,
  count: number,
): void {
  if (products.length === 0) return
  const first = takeBest(board, describe, count, undefined).map(({ slot }) => slot)
  const raised = first.slice(-2).reduce((sum, slot) => sum + board.scoreOf(slot), 0) / 2
  for (const { name, list } of products) {
    if (first.some((slot) => list.has(slot) && !isOnlyPublishedBy(describe(slot), name))) continue
    const all = list.slots.subarray(0, list.size)
    const best = board.bestOf(all, (slot) => isNamed(describe(slot), name)) ?? board.bestOf(all)
    if (best !== undefined && !first.includes(best)) board.set(best, raised)
  }
}

function isNamed({ name, package_name }: StoredDocument, product: string): boolean {
  return `${withoutNamespace(name)} ${packageParts(package_name).name}`.toLowerCase().includes(product)
}

/** True for the agent of another product in a namespace, such as `com.docker/grafana`. */
function isOnlyPublishedBy(document: StoredDocument, product: string): boolean {
  const { namespace, name } = packageParts(document.package_name)
  return namespace.includes(product) && !isNamed(document, product) && !general.test(name)
}
