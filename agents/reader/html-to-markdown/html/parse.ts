import type { Root } from 'hast'
import rehypeParse from 'rehype-parse'
import { unified } from 'unified'

/** A piece of HTML as a tree. */
export function parse(html: string): Root {
  return unified().use(rehypeParse, { fragment: true }).parse(html)
}
