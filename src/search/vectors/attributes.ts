import type { AttributeValue } from '../../common/value-index.ts'

/**
 * The attributes of filters. `list`: an entry has several values, and must have every value of a filter. One more row
 * is one more column of both stores; a store on disk is then rebuilt.
 */
const table = {
  state: { kind: 'text', ignores_case: false },
  owner: { kind: 'text', ignores_case: false },
  target: { kind: 'text', ignores_case: true },
  category: { kind: 'text', ignores_case: true },
  license: { kind: 'text', ignores_case: true },
  tags: { kind: 'list', ignores_case: true },
} as const satisfies Record<string, { kind: 'text' | 'list'; ignores_case: boolean }>

export type AttributeName = keyof typeof table

/** The values of an entry; attributes compared without case are lower-case. */
export type EntryAttributes = {
  readonly [Name in AttributeName]: (typeof table)[Name]['kind'] extends 'list'
    ? readonly string[]
    : string | null
}

/** Every condition must hold. */
export type AttributeFilter = {
  readonly [Name in AttributeName]?: NonNullable<EntryAttributes[Name]>
}

export const attributeNames = Object.keys(table) as readonly AttributeName[]

export function isList(name: AttributeName): boolean {
  return table[name].kind === 'list'
}

/** The attributes of an object that may have more properties, such as a whole document. */
export function pickAttributes(attributes: EntryAttributes): EntryAttributes {
  return Object.fromEntries(attributeNames.map((name) => [name, attributes[name]])) as EntryAttributes
}

/** The distinct values of an entry. A loop, since each start runs it for every entry. */
export function valuesOf(attributes: EntryAttributes): AttributeValue<AttributeName>[] {
  const found: AttributeValue<AttributeName>[] = []
  for (const name of attributeNames) {
    const texts = asList(attributes[name])
    for (const text of texts.length < 2 ? texts : new Set(texts)) found.push([name, text])
  }
  return found
}

/** Throws RangeError for an attribute that the stores do not have: it must never be ignored. */
export function checkFilter(filter: AttributeFilter): void {
  for (const [name, value] of Object.entries(filter)) {
    if (value !== undefined && !Object.hasOwn(table, name))
      throw new RangeError(`Vectors cannot be filtered by ${name}.`)
  }
}

/** The values that an entry must have to meet the filter. */
export function conditionsOf(filter: AttributeFilter): AttributeValue<AttributeName>[] {
  return attributeNames.flatMap((name) =>
    asList(filter[name]).map((text) => [name, table[name].ignores_case ? text.toLowerCase() : text] as const),
  )
}

export function haveSameAttributes(left: EntryAttributes, right: EntryAttributes): boolean {
  return attributeNames.every((name) => isSame(left[name], right[name]))
}

function isSame(left: EntryAttributes[AttributeName], right: EntryAttributes[AttributeName]): boolean {
  const [values, others] = [asList(left), asList(right)]
  return values.length === others.length && values.every((value, index) => value === others[index])
}

function asList(value: string | readonly string[] | null | undefined): readonly string[] {
  if (value === null || value === undefined) return []
  return typeof value === 'string' ? [value] : value
}
