import canonicalize from 'canonicalize'
import { isRecord } from '../../../schemas/json.ts'
import { type CardShape, cardShape, oldCardShape, parsedCardShape } from './card-shape.ts'

/** One canonical form of a card as signed bytes (RFC 8785), and the members that it leaves out. */
export interface Form {
  readonly payload: string
  /** JSON Pointers (RFC 6901) of members of the card that are not in the payload. */
  readonly unsigned: readonly string[]
}

const shapes = [cardShape, oldCardShape, parsedCardShape]

/**
 * The forms that signers use, the most complete first: the whole card; without empty values; and both again limited to
 * the members of A2A 1.0, of 0.3, and of @a2a-js/sdk's reading of 1.0. All forms leave out `signatures`. The card must
 * have passed `refusalOf`.
 */
export function formsOf(card: Readonly<Record<string, unknown>>): readonly Form[] {
  const body = bodyOf(card)
  const forms = [whole(body), cleaned(body), ...shapes.flatMap((shape) => defined(body, shape))]
  const payloads = distinctPayloads(forms.map(({ payload }) => payload))
  return payloads.flatMap((payload) => forms.find((form) => form.payload === payload) ?? [])
}

/**
 * The forms that the gateway signs: the two that @a2a-js/sdk verifies, and the whole card if it holds more members.
 */
export function formsToSign(card: Readonly<Record<string, unknown>>): readonly string[] {
  const body = bodyOf(card)
  const [, parsed] = defined(body, parsedCardShape)
  const [, raw] = defined(body, cardShape)
  return distinctPayloads([parsed, raw, whole(body)].map(({ payload }) => payload))
}

/** Returns each payload once, and no empty one: a signature over `{}` would fit any other card. */
function distinctPayloads(payloads: readonly string[]): readonly string[] {
  return [...new Set(payloads)].filter((payload) => payload !== '{}')
}

function bodyOf({ signatures: _, ...body }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return body
}

function whole(body: Record<string, unknown>): Form {
  return { payload: serialize(body), unsigned: [] }
}

function cleaned(body: Record<string, unknown>): Form {
  const unsigned: string[] = []
  return { payload: serialize(clean(body, '', unsigned) ?? {}), unsigned: outermost(unsigned) }
}

function defined(body: Record<string, unknown>, shape: CardShape): readonly [Form, Form] {
  const literal: string[] = []
  const selected = select(body, shape, '', literal, false)
  const normal: string[] = []
  const sdk = clean(select(body, shape, '', normal, true), '', normal)
  return [
    { payload: serialize(selected), unsigned: outermost(literal) },
    { payload: serialize(sdk ?? {}), unsigned: outermost(normal) },
  ]
}

function serialize(value: unknown): string {
  return canonicalize(value) ?? 'null'
}

/**
 * Selects the members that the shape defines. Other non-empty members are left out, and their pointers are
 * recorded.
 */
function select(
  value: unknown,
  shape: CardShape,
  pointer: string,
  left: string[],
  dropsFalse: boolean,
): unknown {
  if (shape === 'any') return value
  if (shape === 'value' || shape === 'flag') {
    if (shape === 'flag' && dropsFalse && value === false) return undefined
    return isContainer(value) ? leaveOut(value, pointer, left) : value
  }
  if ('list' in shape) {
    if (!Array.isArray(value)) return leaveOut(value, pointer, left)
    // A removed element keeps its index, so that the pointers of the others stay valid.
    return value.map(
      (item, index) => select(item, shape.list, `${pointer}/${index}`, left, dropsFalse) ?? null,
    )
  }
  if (!isRecord(value)) return leaveOut(value, pointer, left)
  const entries = Object.entries(value).map(([name, member]) => {
    const at = `${pointer}/${token(name)}`
    const inner = shapeOf(shape, name, value)
    return [name, inner ? select(member, inner, at, left, dropsFalse) : leaveOut(member, at, left)] as const
  })
  return Object.fromEntries(entries.filter(([, member]) => member !== undefined))
}

function shapeOf(
  shape: Exclude<CardShape, string | { list: CardShape }>,
  name: string,
  value: Readonly<Record<string, unknown>>,
): CardShape | undefined {
  if ('each' in shape) return shape.each
  if (!Object.hasOwn(shape.members, name)) return undefined
  const chosen = shape.is_choice ? Object.keys(shape.members).find((key) => isSet(value[key])) : name
  return chosen === name ? shape.members[name] : undefined
}

/** Removes empty values at any depth, as @a2a-js/sdk does. The pointer of a container that had names is recorded. */
function clean(value: unknown, pointer: string, left: string[]): unknown {
  if (value === '' || value === null || value === undefined) return undefined
  if (!isContainer(value)) return value
  const children = Object.entries(value)
    .map(([name, child]) => [name, clean(child, `${pointer}/${token(name)}`, left)] as const)
    .filter(([, child]) => child !== undefined)
  if (children.length === 0) return leaveOut(value, pointer, left)
  return Array.isArray(value) ? children.map(([, child]) => child) : Object.fromEntries(children)
}

function leaveOut(value: unknown, pointer: string, left: string[]): undefined {
  const isEmpty = value === '' || !isSet(value) || (isContainer(value) && Object.keys(value).length === 0)
  if (!isEmpty) left.push(pointer)
}

function isSet(value: unknown): boolean {
  return value !== null && value !== undefined
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Removes pointers below another pointer. */
function outermost(pointers: readonly string[]): readonly string[] {
  const all = new Set(pointers)
  return pointers.filter((pointer) => {
    for (let end = pointer.lastIndexOf('/'); end > 0; end = pointer.lastIndexOf('/', end - 1)) {
      if (all.has(pointer.slice(0, end))) return false
    }
    return true
  })
}

/** A reference token of a JSON Pointer (RFC 6901, 3). */
function token(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}
