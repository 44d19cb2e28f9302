// Writes the blocks of a set of pages with their features, for train.py: a JSON line a page, the numbers beside it.
import { closeSync, openSync, writeSync } from 'node:fs'
import type { Element, Root } from 'hast'
import { decode } from '../../agents/reader/charset.ts'
import { type Block, isProse, layoutOf } from '../../agents/reader/html-to-markdown/blocks/blocks.ts'
import { featuresOf } from '../../agents/reader/html-to-markdown/blocks/features.ts'
import { pageOf } from '../../agents/reader/html-to-markdown/blocks/page.ts'
import { parse } from '../../agents/reader/html-to-markdown/html/parse.ts'
import { prefilter } from '../../agents/reader/html-to-markdown/html/prefilter.ts'
import { wordsOf } from '../../bench/reading/metrics.ts'
import { htmlOf, type Page, readSet } from '../../bench/reading/sets.ts'

const [folder, out, how] = process.argv.slice(2)
if (folder === undefined || out === undefined) throw new Error('node dump.ts DIR OUT [shortened]')
const lines = openSync(`${out}.jsonl`, 'w')
const numbers = openSync(`${out}.f32`, 'w')
for (const [index, page] of readSet(folder, 'dev').pages.entries()) {
  const root = parse(prefilter(decode(htmlOf(page), undefined, true).text).body)
  if (how !== 'shortened' || shorten(root, page, 0.08 + 0.32 * ((index * 0.618) % 1))) write(root, page)
}
closeSync(lines)
closeSync(numbers)

function write(root: Root, { id, url, type, expected }: Page): void {
  const layout = layoutOf(root)
  const { blocks, containers } = layout
  const rows = featuresOf(pageOf(layout))
  const ids = new Map(containers.map((container, index) => [container, index]))
  const names = rows[0]?.map(([name]) => name) ?? []
  const parents = containers.map(({ parent }) => (parent ? ids.get(parent) : -1))
  const described = blocks.map(({ text, container }) => ({
    text,
    container: ids.get(container),
    tag: container.tag,
  }))
  writeSync(
    lines,
    `${JSON.stringify({ id, url, type, wanted: expected, names, parents, blocks: described })}\n`,
  )
  writeSync(numbers, new Uint8Array(Float32Array.from(rows.flat(), ([, value]) => value).buffer))
}

/** Leaves of an article its beginning alone, so that what stands around it says more; false for other pages. */
function shorten(root: Root, { type, expected }: Page, share: number): boolean {
  if (type !== 'article') return false
  const runs = new Set(runsOf(expected))
  const isWanted = (block: Block) => {
    const own = runsOf(block.text)
    return own.length > 0 && own.filter((run) => runs.has(run)).length > own.length / 2
  }
  const content = layoutOf(root).blocks.filter(isWanted)
  const prose = content.filter(isProse)
  const last = prose[Math.floor(share * prose.length)]
  if (prose.length < 5 || last === undefined) return false
  for (const { container, nodes } of content.slice(content.indexOf(last) + 1)) {
    const parent: Element | Root = container.element
    parent.children = parent.children.filter((child) => !nodes.includes(child)) as Element['children']
  }
  return true
}

function runsOf(text: string): string[] {
  const words = wordsOf(text.toLowerCase())
  return words.slice(2).map((word, index) => `${words[index]} ${words[index + 1]} ${word}`)
}
