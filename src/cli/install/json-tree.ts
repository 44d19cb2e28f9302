import { Failure } from '../../../schemas/failure.ts'

/** A value of a JSON text with its place. Comments and commas at the end are read over, as hosts do. */
export interface JsonNode {
  readonly start: number
  readonly end: number
  readonly value: unknown
  /** Members of an object or items of an array; absent for other values. */
  readonly children?: readonly JsonChild[]
}

export interface JsonChild {
  /** Undefined for an item of an array. */
  readonly key: string | undefined
  /** Where the key begins, or the item. */
  readonly start: number
  readonly node: JsonNode
}

const maxDepth = 200

/** Reads a text. Throws Failure `conflict` naming the line, if it is not JSON. */
export function parseJson(text: string, file: string): JsonNode {
  const fault = (at: number): Failure => {
    const line = text.slice(0, at).split('\n').length
    return new Failure('conflict', `${file} is not JSON: line ${line}.`, { hint: 'Correct the file first.' })
  }

  function skip(from: number): number {
    const end = afterTrivia(text, from)
    if (end === undefined) throw fault(from)
    return end
  }

  function readString(at: number): { end: number; value: string } {
    if (text[at] !== '"') throw fault(at)
    // A regular expression overflows the stack on texts of several MB.
    let end = at + 1
    while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1
    try {
      return { end: end + 1, value: JSON.parse(text.slice(at, end + 1)) }
    } catch {
      throw fault(at)
    }
  }

  function readScalar(at: number): JsonNode {
    if (text[at] === '"') return { start: at, ...readString(at) }
    const token = /(?:true|false|null|-?\d[\d.eE+-]*)/y
    token.lastIndex = at
    const [word] = token.exec(text) ?? []
    try {
      return { start: at, end: at + (word ?? '').length, value: JSON.parse(word ?? '') }
    } catch {
      throw fault(at)
    }
  }

  function readChild(at: number, isObject: boolean, depth: number): JsonChild {
    if (!isObject) return { key: undefined, start: at, node: readNode(at, depth) }
    const key = readString(at)
    const colon = skip(key.end)
    if (text[colon] !== ':') throw fault(colon)
    return { key: key.value, start: at, node: readNode(skip(colon + 1), depth) }
  }

  function readNode(start: number, depth: number): JsonNode {
    if (depth > maxDepth) throw fault(start)
    const isObject = text[start] === '{'
    if (!isObject && text[start] !== '[') return readScalar(start)
    const close = isObject ? '}' : ']'
    const children: JsonChild[] = []
    let at = skip(start + 1)
    while (text[at] !== close) {
      const child = readChild(at, isObject, depth + 1)
      children.push(child)
      at = skip(child.node.end)
      if (text[at] === ',') at = skip(at + 1)
      else if (text[at] !== close) throw fault(at)
    }
    return { start, end: at + 1, value: valueFrom(children, isObject), children }
  }

  const root = readNode(skip(text.startsWith('\uFEFF') ? 1 : 0), 0)
  if (skip(root.end) !== text.length) throw fault(root.end)
  return root
}

function valueFrom(children: readonly JsonChild[], isObject: boolean): unknown {
  if (!isObject) return children.map(({ node }) => node.value)
  return Object.fromEntries(children.map(({ key, node }) => [key, node.value]))
}

/** The place after white space and comments; undefined for a comment that does not end. */
export function afterTrivia(text: string, from: number): number | undefined {
  const placeOf = (mark: string, start: number) => {
    const at = text.indexOf(mark, start)
    return at < 0 ? undefined : at
  }
  let at = from
  while (at < text.length) {
    if (/\s/.test(text[at] ?? '')) at++
    else if (text.startsWith('//', at)) at = placeOf('\n', at) ?? text.length
    else if (text.startsWith('/*', at)) {
      const end = placeOf('*/', at + 2)
      if (end === undefined) return undefined
      at = end + 2
    } else break
  }
  return at
}
