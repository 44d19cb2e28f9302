import { type Block, type Container, isProse, type PageLayout } from './blocks.ts'

export type Feature = readonly [name: string, value: number]

/** Facts of a page with which every block is compared. */
export interface PageStructure {
  readonly blocks: readonly Block[]
  /** Outer containers first; the first one is the whole page. */
  readonly containers: readonly Container[]
  readonly whole: Container
  /** The innermost element with most of the prose; null without prose. */
  readonly main: Container | null
  readonly around_main: ReadonlySet<Container>
  /** The element whose own paragraphs have the most prose; null without prose. */
  readonly body: Container | null
  readonly around_body: ReadonlySet<Container>
  readonly body_start: number
  readonly body_end: number
  readonly around_headline: ReadonlySet<Container>
  readonly headline: Container | null
  /** Indexes of blocks, -1 without one. */
  readonly heading: number
  readonly last_sentence: number
  readonly twins: ReadonlyMap<string, number>
  readonly texts: ReadonlyMap<string, number>
  readonly facts: readonly Feature[]
}

const minProseShare = 0.6
/** Value of a feature that does not apply. */
export const none = -1

export function pageOf({ blocks, containers }: PageLayout): PageStructure {
  const [whole] = containers
  if (!whole) throw new Error('A page has a root.')
  const main = mainOf(containers, whole)
  const proses = blocks.filter(isProse).length
  const body = bodyOf(blocks)
  const headline = blocks.find(({ container }) => container.within.has('h1'))?.container ?? null
  const inBody = (block: Block) => body !== null && [...upward(block.container)].includes(body)
  return {
    blocks,
    containers,
    whole,
    main,
    around_main: new Set(main ? upward(main) : []),
    body,
    around_body: new Set(body ? upward(body) : []),
    body_start: blocks.findIndex(inBody),
    body_end: blocks.findLastIndex(inBody),
    around_headline: new Set(headline ? upward(headline) : []),
    headline,
    heading: blocks.findIndex(({ container }) => container.within.has('h1')),
    last_sentence: blocks.findLastIndex(({ sentences, chars }) => sentences > 0 && chars > 80),
    twins: countBy(blocks, ({ container }) => lineageOf(container)),
    texts: countBy(blocks, ({ text }) => text),
    facts: [
      ['page_proses', Math.log1p(proses)],
      ['page_prose', share(whole.prose, whole.chars)],
      ['page_chars', Math.log1p(whole.chars)],
      ['page_linked', share(whole.linked, whole.chars)],
      ['page_blocks', Math.log1p(whole.blocks)],
      ['page_paragraphs', share(whole.paragraphs, whole.blocks)],
      ['page_sentences', share(whole.sentences, whole.blocks)],
      [
        'page_articles',
        Math.min(20, containers.filter(({ tag, blocks }) => tag === 'article' && blocks > 0).length),
      ],
      ['main_depth', main?.depth ?? none],
      ['main_share', main ? share(main.chars, whole.chars) : 0],
      ['main_linked', main ? share(main.linked, main.chars) : 0],
    ],
  }
}

/** The prose of each element's own paragraphs; paragraphs of its children count half. */
function scoresOf(blocks: readonly Block[]): Map<Container, number> {
  const scores = new Map<Container, number>()
  const add = (container: Container | null | undefined, score: number) => {
    if (container) scores.set(container, (scores.get(container) ?? 0) + score)
  }
  for (const block of blocks) {
    if (block.chars < 80 || block.sentences === 0 || block.linked > 0.3 * block.chars) continue
    const holder = block.container.tag === 'p' ? block.container.parent : block.container
    add(holder, block.chars)
    add(holder?.parent, block.chars / 2)
  }
  return scores
}

/** The element whose own paragraphs have the most prose. */
function bodyOf(blocks: readonly Block[]): Container | null {
  let [best, highest]: [Container | null, number] = [null, 0]
  for (const [container, score] of scoresOf(blocks)) if (score > highest) [best, highest] = [container, score]
  return best
}

function mainOf(containers: readonly Container[], whole: Container): Container | null {
  if (whole.prose === 0) return null
  return containers.reduce(
    (deepest, container) =>
      container.prose >= minProseShare * whole.prose && container.depth > deepest.depth ? container : deepest,
    whole,
  )
}

export function* upward(from: Container): Generator<Container> {
  for (let container: Container | null = from; container; container = container.parent) yield container
}

export function lineageOf(container: Container): string {
  return `${container.parent?.parent?.signature}>${container.parent?.signature}>${container.signature}`
}

export function share(part: number, whole: number): number {
  return part / Math.max(1, whole)
}

function countBy(blocks: readonly Block[], key: (block: Block) => string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const block of blocks) counts.set(key(block), (counts.get(key(block)) ?? 0) + 1)
  return counts
}
