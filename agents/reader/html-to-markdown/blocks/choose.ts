import type { Block, Container } from './blocks.ts'
import { type PageStructure, upward } from './page.ts'
import { isOneTable, leaveOutEmptySections } from './structure.ts'

interface Choice {
  readonly chosen: ReadonlySet<Block>
  /** Expected F1 of the chosen blocks against the content, from 0 to 1. */
  readonly confidence: number
}

/** Metadata of a page that the choice uses. */
export interface PageFacts {
  readonly title: string
  /** The text of the article in the page's JSON-LD; empty if there is none. */
  readonly stated: string
  /** The page declares that it is one article. */
  readonly is_article: boolean
}

/**
 * The body is the element whose own paragraphs have the most prose. If it has this share of the expected content, the
 * page is one text and doubtful blocks are left out; on other pages they are taken for completeness. A page that
 * declares itself an article needs a smaller share.
 */
const bodyShare = { undeclared: 0.4, declared: 0.1 }
const certain = { of_article: 0.55, of_lead: 0.85, of_comment: 0.9 }
/** Minimum characters of certain content for a text; fewer may be a headline. */
const minCertainCharacters = 200
/** Probability from which a quotation within the text counts as part of it. */
const likelyQuotation = 0.25
/** A stated text with fewer characters may be only the beginning; the page must contain this share of the text. */
const minStatedCharacters = 800
const minStatedShare = 0.7
/** Weight of the expected size of the content against that of the chosen blocks; below 1 the choice is stricter. */
const strictness = 0.55

/** On a page of at most this many blocks, a gap between probabilities separates the content. */
const maxBlocksForGap = 60
/**
 * Minimum width of the gap, minimum probability above it, and the maximum share of certain content that it may add.
 */
const clearGap = { width: 0.12, floor: 0.25, share: 1 }

/** Chooses the blocks that are content, by the probability of each. */
export function choose(
  { blocks, body }: PageStructure,
  probabilities: readonly number[],
  facts: PageFacts,
): Choice {
  const scored = evened(blocks, probabilities).map((probability, index) => ({
    block: blocks[index] as Block,
    probability,
  }))
  const mass = massOf(scored)
  const inBody = scored.filter(({ block }) => body !== null && [...upward(block.container)].includes(body))
  const isArticle = massOf(inBody) > (facts.is_article ? bodyShare.declared : bodyShare.undeclared) * mass
  const own = ownThreshold(scored, mass)
  const isSure =
    sizeOf(scored.filter(({ probability }) => probability >= certain.of_article)) >= minCertainCharacters
  const strict = isSure ? certain.of_article : own
  const limit = isArticle ? strict : own
  const clear = blocks.length <= maxBlocksForGap ? clearThreshold(scored, limit) : limit
  const likely = scored.filter(
    ({ block, probability }) => probability >= limit || (probability >= clear && !isBoilerplate(block)),
  )
  const chosen = new Set(likely.map(({ block }) => block))
  if (isArticle) takeQuotations(chosen, inBody)
  keepToStated(chosen, blocks, facts.stated)
  if (isArticle) {
    if (facts.is_article) leaveOutComments(chosen, scored)
    leaveOut(chosen, scored, facts)
    leaveOutEmptySections(chosen, blocks)
  }
  return { chosen, confidence: (2 * massOf(likely)) / Math.max(1, sizeOf(likely) + mass) }
}

interface Scored {
  readonly block: Block
  readonly probability: number
}

/** The threshold with the highest expected F measure over all blocks. */
function ownThreshold(scored: readonly Scored[], mass: number): number {
  let [size, right, best, threshold] = [0, 0, 0, 0]
  for (const { block, probability } of scored.toSorted((a, b) => b.probability - a.probability)) {
    size += block.chars
    right += block.chars * probability
    const measure = right / (size + strictness * mass)
    if (measure <= best) continue
    best = measure
    threshold = probability
  }
  return threshold
}

/** Gives all blocks of a data table the mean probability, since a table is content as a whole or not at all. */
function evened(blocks: readonly Block[], probabilities: readonly number[]): number[] {
  const tables = new Map<Container, { chars: number; mass: number }>()
  const tableOf = (block: Block) => [...upward(block.container)].findLast(isOneTable)
  const owners = blocks.map(tableOf)
  for (const [index, block] of blocks.entries()) {
    const owner = owners[index]
    if (!owner) continue
    const total = tables.get(owner) ?? { chars: 0, mass: 0 }
    total.chars += block.chars
    total.mass += block.chars * (probabilities[index] ?? 0)
    tables.set(owner, total)
  }
  return probabilities.map((probability, index) => {
    const total = tables.get(owners[index] as Container)
    return total ? total.mass / Math.max(1, total.chars) : probability
  })
}

/** Adds posts that are quoted in the text. */
function takeQuotations(chosen: Set<Block>, inBody: readonly Scored[]): void {
  for (const { block, probability } of inBody)
    if (block.container.within.has('blockquote') && probability >= likelyQuotation) chosen.add(block)
}

/** Leaves out comments of readers if there is an article beside them. */
function leaveOutComments(chosen: Set<Block>, scored: readonly Scored[]): void {
  const comments = scored.filter(({ block }) => block.container.comment.count > 0)
  const others = new Set(chosen)
  for (const { block } of comments) others.delete(block)
  if (sum([...others].map(({ chars }) => chars)) < minCertainCharacters) return
  for (const { block, probability } of comments) if (probability < certain.of_comment) chosen.delete(block)
}

/** Leaves the headline, captions of pictures and links to other articles out of an article. */
function leaveOut(chosen: Set<Block>, scored: readonly Scored[], { title, is_article }: PageFacts): void {
  for (const { block, probability } of scored) {
    const { text, chars, linked, container } = block
    if (container.within.has('table') || container.within.has('li')) continue
    const isHeadline = container.within.has('h1') && title.toLowerCase().includes(text.toLowerCase())
    const isCard = container.is_linked && !is_article
    const isLead = !isCard && chars >= 15 && linked > 0.9 * chars && probability < certain.of_lead
    if (isHeadline || isLead || isCaption(container)) chosen.delete(block)
  }
}

function isCaption(container: Container): boolean {
  if (container.within.has('pre') || container.within.has('blockquote')) return false
  const near = [...upward(container)].slice(0, 3)
  return container.within.has('figure') || near.some(({ signature }) => /caption|credit/i.test(signature))
}

/** Lowers a threshold to a clear gap: on a page of few blocks, those above the gap belong together. */
function clearThreshold(scored: readonly Scored[], threshold: number): number {
  const sorted = scored.toSorted((a, b) => b.probability - a.probability)
  const size = sizeOf(sorted.filter(({ probability }) => probability >= threshold))
  let [more, widest, clear] = [0, clearGap.width, threshold]
  for (const [index, { block, probability }] of sorted.entries()) {
    if (probability < threshold) more += block.chars
    if (probability < clearGap.floor || more > clearGap.share * size) break
    const gap = probability - (sorted[index + 1]?.probability ?? 0)
    if (probability > threshold || gap < widest) continue
    widest = gap
    clear = probability
  }
  return clear
}

/** Leaves out everything before and after the article's text, if the page states the text in full. */
function keepToStated(chosen: Set<Block>, blocks: readonly Block[], stated: string): void {
  if (stated.length < minStatedCharacters || !/[.!?”"')\]]\s*$/.test(stated)) return
  const runs = new Set(runsOf(stated))
  const isStated = (block: Block) => {
    if (block.container.within.has('table')) return false
    const own = runsOf(block.text)
    return own.length > 0 && own.filter((run) => runs.has(run)).length > 0.8 * own.length
  }
  const [start, end] = [blocks.findIndex(isStated), blocks.findLastIndex(isStated)]
  const own = blocks.slice(start, end + 1)
  const found = sum(own.filter(isStated).map(({ chars }) => chars))
  if (start === -1 || found < minStatedShare * stated.replace(/\s+/g, '').length) return
  const inside = new Set(own)
  for (const block of chosen) if (!inside.has(block)) chosen.delete(block)
  for (const block of own) if (isStated(block)) chosen.add(block)
}

/** Every run of six words. */
function runsOf(text: string): string[] {
  const words = text.match(/[\p{L}\p{N}]+/gu) ?? []
  return words.slice(5).map((_, index) => words.slice(index, index + 6).join(' '))
}

export function isBoilerplate({ container: { within, has_boilerplate_role } }: Block): boolean {
  return has_boilerplate_role || within.has('nav') || within.has('footer') || within.has('aside')
}

function sizeOf(scored: readonly Scored[]): number {
  return sum(scored.map(({ block }) => block.chars))
}

function massOf(scored: readonly Scored[]): number {
  return sum(scored.map(({ block, probability }) => block.chars * probability))
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
