import type { Element, Root } from 'hast'
import { attribute, childrenOf, isElement, type Node } from './hast.ts'

export const maxSelectorLength = 200
const maxSteps = 20

type Test = (element: Element) => boolean

interface Step {
  readonly tests: readonly Test[]
  /** The combinator before the step: ` ` descendant, `>` child, `+` next sibling, `~` later sibling. */
  readonly relation: string
}

/** A list of selectors, each a sequence of steps. */
type Selector = readonly (readonly Step[])[]

const blank = /\s*/y
const relation = /\s*([>+~])\s*|\s+(?=[^,\s])/y
const comma = /\s*,\s*/y
const name = /\*|[a-zA-Z][\w-]*/y
const part =
  /([#.])(-?[_a-zA-Z\u{80}-\u{10ffff}][\w\u{80}-\u{10ffff}-]*)|\[\s*([a-zA-Z][\w:-]*)\s*(?:([~|^$*]?=)\s*(?:"([^"]*)"|'([^']*)'|([\w-]+))\s*)?\]/uy

/**
 * Parses a selector: names, `#id`, `.class` and `[attribute]` tests, joined by the four combinators, in lists
 * (Selectors Level 4, without pseudo-classes). Returns a `fault` for any other.
 */
export function parseSelector(text: string): { selector: Selector; fault?: string } {
  const ways: Step[][] = []
  let position = 0
  const take = (pattern: RegExp) => {
    pattern.lastIndex = position
    const found = pattern.exec(text)
    position += found?.[0].length ?? 0
    return found
  }
  take(blank)
  for (let steps: Step[] = [], joint = ' ', total = 1; ; total++) {
    const tests = testsOf(take(name)?.[0], () => take(part))
    if (tests.length === 0) return { selector: [], fault: faultAt(text, position) }
    if (total > maxSteps) return { selector: [], fault: `The selector has more than ${maxSteps} steps.` }
    steps.push({ tests, relation: joint })
    const next = take(relation)
    joint = next?.[1] ?? ' '
    if (next && position < text.length) continue
    ways.push(steps)
    steps = []
    if (position === text.length && next === null) return { selector: ways }
    if (!take(comma)) {
      take(blank)
      if (position === text.length && next === null) return { selector: ways }
      return { selector: [], fault: faultAt(text, position) }
    }
  }
}

function testsOf(tagName: string | undefined, take: () => RegExpExecArray | null): Test[] {
  const tag = tagName?.toLowerCase()
  const tests: Test[] = tag === undefined ? [] : [(element) => tag === '*' || element.tagName === tag]
  for (let found = take(); found; found = take()) {
    const [, prefix, value = '', key = '', operator, ...values] = found
    if (prefix === '#') tests.push((element) => attribute(element, 'id') === value)
    else if (prefix === '.') tests.push((element) => classesOf(element).includes(value))
    else
      tests.push(
        attributeTest(key.toLowerCase(), operator, values.find((candidate) => candidate !== undefined) ?? ''),
      )
  }
  return tests
}

function attributeTest(key: string, operator: string | undefined, value: string): Test {
  const property =
    key === 'class' ? 'className' : key.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
  const holds: Record<string, (actual: string) => boolean> = {
    '=': (actual) => actual === value,
    '~=': (actual) => actual.split(/\s+/).includes(value),
    '|=': (actual) => actual === value || actual.startsWith(`${value}-`),
    '^=': (actual) => value !== '' && actual.startsWith(value),
    '$=': (actual) => value !== '' && actual.endsWith(value),
    '*=': (actual) => value !== '' && actual.includes(value),
  }
  const test = operator === undefined ? () => true : (holds[operator] ?? (() => false))
  return (element) => property in element.properties && test(attribute(element, property))
}

function classesOf(element: Element): readonly unknown[] {
  const { className } = element.properties
  return Array.isArray(className) ? className : []
}

function faultAt(text: string, position: number): string {
  const rest = text.slice(position, position + 20)
  if (rest.startsWith(':')) return `Pseudo-classes such as ${rest} are not supported.`
  return rest === ''
    ? 'The selector ends too early.'
    : `The selector cannot be parsed from ${JSON.stringify(rest)} on.`
}

/** Steps of all selectors that match at an element, as `selector * maxSteps + step`. */
type Reached = ReadonlySet<number>

const nothing: Reached = new Set()

/**
 * The outermost elements that a selector matches, in document order. One walk decides: each element knows which steps
 * match around and before it, so the time is the size of the tree times the steps, whatever the selector.
 */
export function select(root: Root, selector: Selector): Element[] {
  const found: Element[] = []

  function walk(parent: Node, within: Reached, atParent: Reached): void {
    let before: Reached = nothing
    const earlier = new Set<number>()
    for (const child of childrenOf(parent)) {
      if (!isElement(child)) continue
      const around = { ' ': within, '>': atParent, '+': before, '~': earlier }
      const here = stepsAt(child, selector, around)
      if (selector.some((way, index) => here.has(index * maxSteps + way.length - 1))) found.push(child)
      else walk(child, here.size === 0 ? within : new Set([...within, ...here]), here)
      before = here
      for (const step of here) earlier.add(step)
    }
  }

  walk(root, nothing, nothing)
  return found
}

function stepsAt(element: Element, selector: Selector, around: Record<string, Reached>): Reached {
  const here = new Set<number>()
  for (const [index, way] of selector.entries()) {
    for (const [number, step] of way.entries()) {
      const key = index * maxSteps + number
      const isOpen = number === 0 || around[step.relation]?.has(key - 1)
      if (isOpen && step.tests.every((test) => test(element))) here.add(key)
    }
  }
  return here
}
