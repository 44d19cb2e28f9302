import { isDeepStrictEqual } from 'node:util'
import { Failure } from '../../../schemas/failure.ts'
import { afterTrivia, type JsonChild, type JsonNode, parseJson } from './json-tree.ts'

/** A change of a text: what stands between two places is replaced. */
interface Splice {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Changes members of a JSON file where they stand: comments, order and the form of all else stay. */
export class JsonFile {
  #text: string
  readonly #file: string

  constructor(text: string, file: string) {
    this.#text = text
    this.#file = file
  }

  get text(): string {
    return this.#text
  }

  /** The value at a path of keys; undefined if there is none. */
  get(path: readonly string[]): unknown {
    return this.#nodeAt(path)?.value
  }

  /** Sets a member, and creates the objects on its path. Throws Failure `conflict` if something else stands there. */
  set(path: readonly string[], value: unknown): void {
    if (this.#text.trim() === '') this.#text = `{}${this.#eol}`
    const existing = this.#nodeAt(path)
    if (existing) {
      this.#replace(existing, value)
      return
    }
    let depth = path.length - 1
    while (depth > 0 && !this.#nodeAt(path.slice(0, depth))) depth--
    const parent = this.#container(path.slice(0, depth), '{')
    const inner = path.slice(depth + 1).reduceRight<unknown>((member, key) => ({ [key]: member }), value)
    this.#insert(parent, path[depth], inner)
  }

  /** Puts an item into an array, in the place of the item with the same id. */
  setItem(path: readonly string[], item: { readonly id: string }): void {
    if (!this.#nodeAt(path)) {
      this.set(path, [item])
      return
    }
    const array = this.#container(path, '[')
    const same = array.children?.find(({ node }) => idOf(node.value) === item.id)
    if (same) this.#replace(same.node, item)
    else this.#insert(array, undefined, item)
  }

  /** Removes a member. */
  remove(path: readonly string[]): void {
    const parent = this.#nodeAt(path.slice(0, -1))
    const child = parent?.children?.findLast(({ key }) => key !== undefined && key === path.at(-1))
    if (parent && child) this.#removeChild(parent, child)
  }

  /** Removes the items of an array for which the test holds. */
  removeItems(path: readonly string[], matches: (id: string) => boolean): void {
    for (let left = this.#nodeAt(path)?.children?.length ?? 0; left > 0; left--) {
      const array = this.#container(path, '[')
      const child = array.children?.find(({ node }) => matches(idOf(node.value)))
      if (child) this.#removeChild(array, child)
    }
  }

  #nodeAt(path: readonly string[]): JsonNode | undefined {
    if (this.#text.trim() === '') return undefined
    let node: JsonNode | undefined = parseJson(this.#text, this.#file)
    // The last of several members with one name counts.
    for (const key of path) node = node?.children?.findLast((child) => child.key === key)?.node
    return node
  }

  #container(path: readonly string[], open: '{' | '['): JsonNode {
    const node = this.#nodeAt(path)
    if (node?.children && this.#text[node.start] === open) return node
    const where = path.length > 0 ? `/${path.join('/')}` : 'The whole'
    throw new Failure(
      'conflict',
      `${where} in ${this.#file} is not ${open === '{' ? 'an object' : 'a list'}.`,
      {
        hint: 'Correct the file first.',
      },
    )
  }

  #replace(node: JsonNode, value: unknown): void {
    if (isDeepStrictEqual(node.value, value)) return
    this.#apply([
      { start: node.start, end: node.end, text: this.#json(value, this.#indentOfLine(node.start)) },
    ])
  }

  #insert(parent: JsonNode, key: string | undefined, value: unknown): void {
    const children = parent.children ?? []
    const last = children.at(-1)
    const inLine = last !== undefined && !this.#text.slice(parent.start, parent.end).includes('\n')
    const outer = this.#indentOfLine(parent.start)
    const indent = last && !inLine ? this.#indentOfLine(last.start) : outer + this.#unit
    const name = key === undefined ? '' : `${JSON.stringify(key)}: `
    if (inLine) {
      const text = `, ${name}${JSON.stringify(value)}`
      this.#apply([{ start: last.node.end, end: last.node.end, text }])
      return
    }
    const close = parent.end - 1
    const at = this.#text.slice(0, close).trimEnd().length
    const member = `${this.#eol}${indent}${name}${this.#json(value, indent)}`
    const tail: Splice = { start: at, end: close, text: `${member}${this.#eol}${outer}` }
    const needsComma = last && this.#commaAfter(last) === undefined
    this.#apply(needsComma ? [{ start: last.node.end, end: last.node.end, text: ',' }, tail] : [tail])
  }

  #removeChild(parent: JsonNode, child: JsonChild): void {
    const children = parent.children ?? []
    const previous = children[children.indexOf(child) - 1]
    const start = this.#text.slice(0, child.start).trimEnd().length
    const comma = this.#commaAfter(child)
    const end = comma === undefined ? child.node.end : comma + 1
    const before = previous && comma === undefined ? this.#commaAfter(previous) : undefined
    const rest = this.#text.slice(parent.start + 1, start) + this.#text.slice(end, parent.end - 1)
    if (rest.trim() === '') this.#apply([{ start: parent.start + 1, end: parent.end - 1, text: '' }])
    else if (before === undefined) this.#apply([{ start, end, text: '' }])
    else
      this.#apply([
        { start: before, end: before + 1, text: '' },
        { start, end, text: '' },
      ])
  }

  #commaAfter({ node }: JsonChild): number | undefined {
    const at = afterTrivia(this.#text, node.end)
    return at !== undefined && this.#text[at] === ',' ? at : undefined
  }

  /** Applies changes, given from the first to the last. */
  #apply(splices: readonly Splice[]): void {
    for (const { start, end, text } of splices.toReversed()) {
      this.#text = this.#text.slice(0, start) + text + this.#text.slice(end)
    }
  }

  #json(value: unknown, indent: string): string {
    return JSON.stringify(value, null, this.#unit).replaceAll('\n', this.#eol + indent)
  }

  get #unit(): string {
    return /\n([ \t]+)\S/.exec(this.#text)?.[1] ?? '  '
  }

  get #eol(): string {
    return this.#text.includes('\r\n') ? '\r\n' : '\n'
  }

  #indentOfLine(at: number): string {
    const line = this.#text.slice(this.#text.lastIndexOf('\n', at - 1) + 1, at)
    return /^[ \t]*/.exec(line)?.[0] ?? ''
  }
}

function idOf(item: unknown): string {
  return typeof item === 'object' && item !== null && 'id' in item ? String(item.id) : ''
}
