import type { Element, Root, RootContent } from 'hast'
import { attribute, childrenOf, isElement, type Node, textOf } from '../html/hast.ts'
import { apart, boilerplateName, boilerplateRole, commentName, contentName, metaName } from './names.ts'

/** A stretch of text that no other block interrupts: what a reader takes or leaves as one. */
export interface Block {
  /** Its nodes, in a row among the children of the place. */
  readonly nodes: readonly RootContent[]
  readonly text: string
  /** Characters, blanks left out; an ideograph or a syllable counts twice. */
  readonly chars: number
  /** Those of them that are inside links. */
  readonly linked: number
  readonly sentences: number
  readonly container: Container
}

/** What is said within an element. */
interface Sums {
  chars: number
  linked: number
  blocks: number
  paragraphs: number
  sentences: number
  /** Characters of blocks that are prose: long, of several sentences, hardly linked. */
  prose: number
  /** Blocks that are a link and nothing else, as long as a headline. */
  leads: number
}

/** An element that holds blocks, and what stands around it. */
export interface Container extends Sums {
  readonly element: Element | Root
  readonly tag: string
  readonly parent: Container | null
  readonly depth: number
  /** Its tag and class. */
  readonly signature: string
  /** Siblings of the same signature, itself included. */
  readonly alike: { count: number }
  /** Names of it and of all around it. */
  readonly within: ReadonlySet<string>
  readonly boilerplate: NameMatch
  readonly content: NameMatch
  readonly comment: NameMatch
  readonly meta: NameMatch
  readonly has_boilerplate_role: boolean
  /** It is a link, or within one: a card that leads elsewhere as a whole. */
  readonly is_linked: boolean
}

/** How many of the elements around are called so, and the depth of the nearest, -1 where there is none. */
export interface NameMatch {
  readonly count: number
  readonly depth: number
}

const blockNames = new Set(
  'address article aside blockquote caption dd details div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table tbody td tfoot th thead tr ul'.split(
    ' ',
  ),
)

/** Characters of a link. */
const maxCardCharacters = 1000

export interface PageLayout {
  /** In the order of the page; those without any text are left out. */
  readonly blocks: readonly Block[]
  /** From the outside in; the first is the whole page. */
  readonly containers: readonly Container[]
}

/** A page as blocks and the elements around them, in time linear in blocks times depth. */
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

/** Elements of a block's kind, and those that wrap such. */
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

/** The text of a node, with a blank where a line breaks. */
function spacedText(node: Node): string {
  if (node.type === 'text') return node.value
  return isElement(node, 'br') ? ' ' : childrenOf(node).map(spacedText).join('')
}

/** A link around blocks; one that was never closed holds more than any card. */
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

/** 1 to 6 for headings, 0 for all else. */
export function levelOf({ tag }: Container): number {
  return /^h[1-6]$/.test(tag) ? Number(tag[1]) : 0
}
