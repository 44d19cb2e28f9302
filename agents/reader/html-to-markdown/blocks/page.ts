import { type Block, isProse, type Layout, type Place } from './blocks.ts'

export type Feature = readonly [name: string, value: number]

/** What every block of a page is compared with. */
export interface Page {
  readonly blocks: readonly Block[]
  /** From the outside in; the first is the whole page. */
  readonly places: readonly Place[]
  readonly whole: Place
  /** The innermost element that holds most of the prose; null where there is none. */
  readonly main: Place | null
  readonly around_main: ReadonlySet<Place>
  /** The element whose own paragraphs hold the most prose; null where there is none. */
  readonly body: Place | null
  readonly around_body: ReadonlySet<Place>
  readonly body_start: number
  readonly body_end: number
  readonly around_headline: ReadonlySet<Place>
  readonly headline: Place | null
  /** Places in the row of blocks, -1 where there is none. */
  readonly heading: number
  readonly last_sentence: number
  readonly twins: ReadonlyMap<string, number>
  readonly texts: ReadonlyMap<string, number>
  readonly facts: readonly Feature[]
}

const mostOfProse = 0.6
/** Where there is nothing to measure. */
export const none = -1

export function pageOf({ blocks, places }: Layout): Page {
  const [whole] = places
  if (!whole) throw new Error('A page has a root.')
  const main = mainOf(places, whole)
  const proses = blocks.filter(isProse).length
  const body = bodyOf(blocks)
  const headline = blocks.find(({ place }) => place.within.has('h1'))?.place ?? null
  const inBody = (block: Block) => body !== null && [...upward(block.place)].includes(body)
  return {
    blocks,
    places,
    whole,
    main,
    around_main: new Set(main ? upward(main) : []),
    body,
    around_body: new Set(body ? upward(body) : []),
    body_start: blocks.findIndex(inBody),
    body_end: blocks.findLastIndex(inBody),
    around_headline: new Set(headline ? upward(headline) : []),
    headline,
    heading: blocks.findIndex(({ place }) => place.within.has('h1')),
    last_sentence: blocks.findLastIndex(({ sentences, chars }) => sentences > 0 && chars > 80),
    twins: countBy(blocks, ({ place }) => lineageOf(place)),
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
        Math.min(20, places.filter(({ tag, blocks }) => tag === 'article' && blocks > 0).length),
      ],
      ['main_depth', main?.depth ?? none],
      ['main_share', main ? share(main.chars, whole.chars) : 0],
      ['main_linked', main ? share(main.linked, main.chars) : 0],
    ],
  }
}

/** How much prose each element's own paragraphs hold; those of its children count half. */
function scoresOf(blocks: readonly Block[]): Map<Place, number> {
  const scores = new Map<Place, number>()
  const add = (place: Place | null | undefined, score: number) => {
    if (place) scores.set(place, (scores.get(place) ?? 0) + score)
  }
  for (const block of blocks) {
    if (block.chars < 80 || block.sentences === 0 || block.linked > 0.3 * block.chars) continue
    const holder = block.place.tag === 'p' ? block.place.parent : block.place
    add(holder, block.chars)
    add(holder?.parent, block.chars / 2)
  }
  return scores
}

/** The element whose own paragraphs hold the most prose. */
export function bodyOf(blocks: readonly Block[]): Place | null {
  let [best, most]: [Place | null, number] = [null, 0]
  for (const [place, score] of scoresOf(blocks)) if (score > most) [best, most] = [place, score]
  return best
}

function mainOf(places: readonly Place[], whole: Place): Place | null {
  if (whole.prose === 0) return null
  return places.reduce(
    (deepest, place) =>
      place.prose >= mostOfProse * whole.prose && place.depth > deepest.depth ? place : deepest,
    whole,
  )
}

export function* upward(from: Place): Generator<Place> {
  for (let place: Place | null = from; place; place = place.parent) yield place
}

export function lineageOf(place: Place): string {
  return `${place.parent?.parent?.signature}>${place.parent?.signature}>${place.signature}`
}

export function share(part: number, whole: number): number {
  return part / Math.max(1, whole)
}

function countBy(blocks: readonly Block[], key: (block: Block) => string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const block of blocks) counts.set(key(block), (counts.get(key(block)) ?? 0) + 1)
  return counts
}
