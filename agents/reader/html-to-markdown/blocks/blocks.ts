import type { Element, Root, RootContent } from 'hast'
import { attribute, childrenOf, isElement, type Node, textOf } from '../html/hast.ts'
import { apart, boilerplateName, boilerplateRole, commentName, contentName, metaName } from './names.ts'

/** A run of text that no other block interrupts; it is chosen or left out as a whole. */
export interface Block {
  /** Its nodes, consecutive children of the container. */
  readonly nodes: readonly RootContent[]
  readonly text: string
  /** Characters without white space; an ideograph or a syllable counts twice. */
  readonly chars: number
  /** Characters of the block that are inside links. */
  readonly linked: number
  readonly sentences: number
  readonly container: Container
}

/** Sums over the blocks within an element. */
interface Sums {
  chars: number
  linked: number
  blocks: number
  paragraphs: number
  sentences: number
  /** Characters of blocks of prose: long, several sentences, few links. */
  prose: number
  /** Blocks that consist of one link as long as a headline. */
  leads: number
}

/** An element that contains blocks, and its context. */
export interface Container extends Sums {
  readonly element: Element | Root
  readonly tag: string
  readonly parent: Container | null
  readonly depth: number
  /** Its tag and class. */
  readonly signature: string
  /** Siblings of the same signature, itself included. */
  readonly alike: { count: number }
  /** Tag names of the element and its ancestors. */
  readonly within: ReadonlySet<string>
  readonly boilerplate: NameMatch
  readonly content: NameMatch
  readonly comment: NameMatch
  readonly meta: NameMatch
  readonly has_boilerplate_role: boolean
  /** The container is a link or inside one: a card whose whole area links to another page. */
  readonly is_linked: boolean
}

/** Number of matches among the names of the element and its ancestors, and the depth of the nearest match; -1 without one. */
export interface NameMatch {
  readonly count: number
  readonly depth: number
}

const blockNames = new Set(
  'address article aside blockquote caption dd details div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table tbody td tfoot th thead tr ul'.split(
    ' ',
  ),
)

/** Characters of a link above which it is not a card. */
const maxCardCharacters = 1000

export interface PageLayout {
  /** In order of the page, without blocks that have no text. */
  readonly blocks: readonly Block[]
  /** Outer containers first; the first one is the whole page. */
  readonly containers: readonly Container[]
}

/** Splits a page into blocks and the elements around them, in time linear in blocks times depth. */
export function layoutOf(root: Root): PageLayout {
  const holders = new Set<Node>()
  findHolders(root, holders)
  const blocks: Block[] = []
  const containers: Container[] = []

  function visit(container: Container): void {
    containers.push(container)
    const siblings = new Map<string, { count: number }>()
    let nodes: RootContent[] = []
    const flush = () => {
      const block = blockOf(nodes, container)
      if (block) blocks.push(block)
      nodes = []
    }
    for (const node of childrenOf(container.element)) {
      if (isElement(node) && holders.has(node)) {
        flush()
        visit(containerOf(node, container, siblings))
      } else nodes.push(node)
    }
    flush()
  }

  visit(containerOf(root, null, new Map()))
  for (const block of blocks) addUp(block)
  return { blocks, containers }
}

/** Collects block elements and the elements that contain a block. */
function findHolders(node: Node, holders: Set<Node>): boolean {
  let holds = node.type === 'root' || (isElement(node) && blockNames.has(node.tagName))
  for (const child of childrenOf(node)) if (findHolders(child, holders)) holds = true
  if (holds) holders.add(node)
  return holds
}

function containerOf(
  element: Element | Root,
  parent: Container | null,
  siblings: Map<string, { count: number }>,
): Container {
  const isRoot = element.type === 'root'
  const tag = isRoot ? '' : element.tagName
  const className = isRoot ? '' : attribute(element, 'className')
  const signature = `${tag}.${className.slice(0, 80)}`
  const alike = siblings.get(signature) ?? { count: 0 }
  alike.count++
  siblings.set(signature, alike)
  const names = isRoot ? '' : apart(`${className} ${attribute(element, 'id')}`.slice(0, 300))
  const depth = parent ? parent.depth + 1 : 0
  const named = (pattern: RegExp, around: NameMatch | undefined): NameMatch =>
    names.length > 1 && pattern.test(names)
      ? { count: (around?.count ?? 0) + 1, depth }
      : (around ?? { count: 0, depth: -1 })
  const isNew = tag !== '' && parent !== null && !parent.within.has(tag)
  return {
    element,
    tag,
    parent,
    depth,
    signature,
    alike,
    within: isNew ? new Set([...parent.within, tag]) : (parent?.within ?? new Set()),
    boilerplate: named(boilerplateName, parent?.boilerplate),
    content: named(contentName, parent?.content),
    comment: named(commentName, parent?.comment),
    meta: named(metaName, parent?.meta),
    has_boilerplate_role:
      (parent?.has_boilerplate_role ?? false) ||
      (!isRoot && boilerplateRole.test(attribute(element, 'role'))),
    is_linked: (parent?.is_linked ?? false) || (!isRoot && isCard(element)),
    chars: 0,
    linked: 0,
    blocks: 0,
    paragraphs: 0,
    sentences: 0,
    prose: 0,
    leads: 0,
  }
}

function blockOf(nodes: readonly RootContent[], container: Container): Block | undefined {
  const text = nodes.map(spacedText).join('').replace(/\s+/g, ' ').trim()
  if (text === '') return undefined
  const chars = charsIn(text)
  return {
    nodes,
    text,
    chars,
    linked: container.is_linked ? chars : nodes.reduce((sum, node) => sum + linkedIn(node), 0),
    sentences: text.match(/[.!?؟।](?=\s|$)|[。！？]/g)?.length ?? 0,
    container,
  }
}

function addUp(block: Block): void {
  const prose = isProse(block) ? block.chars : 0
  const lead = isLead(block) ? 1 : 0
  for (let container: Container | null = block.container; container; container = container.parent) {
    container.chars += block.chars
    container.linked += block.linked
    container.blocks++
    container.sentences += block.sentences
    container.prose += prose
    container.leads += lead
    if (block.container.tag === 'p') container.paragraphs++
  }
}

export function isProse({ chars, sentences, linked }: Block): boolean {
  return chars >= 120 && sentences >= 2 && linked < 0.3 * chars
}

function isLead({ chars, linked }: Block): boolean {
  return chars >= 15 && linked >= 0.9 * chars
}

/** The text of a node, with a space for each line break. */
function spacedText(node: Node): string {
  if (node.type === 'text') return node.value
  return isElement(node, 'br') ? ' ' : childrenOf(node).map(spacedText).join('')
}

/** A link around blocks; a link that was never closed contains more text than any card. */
function isCard(element: Element): boolean {
  return (
    element.tagName === 'a' &&
    attribute(element, 'href') !== '' &&
    charsIn(textOf(element)) <= maxCardCharacters
  )
}

function linkedIn(node: RootContent): number {
  if (isElement(node, 'a')) return charsIn(textOf(node))
  return childrenOf(node).reduce((sum, child) => sum + linkedIn(child), 0)
}

function charsIn(text: string): number {
  const dense = text.match(/[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/g)?.length ?? 0
  return text.replace(/\s+/g, '').length + dense
}

/** 1 to 6 for headings, 0 for other elements. */
export function levelOf({ tag }: Container): number {
  return /^h[1-6]$/.test(tag) ? Number(tag[1]) : 0
}
