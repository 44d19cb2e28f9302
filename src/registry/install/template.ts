import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { InstallNeed } from '../../../schemas/install.ts'
import { type NamedInput, type VariableInput, variablesIn } from '../../../schemas/package.ts'
import { inOneLine, withoutHidden } from '../../../schemas/text.ts'
import { checkLiteral } from './refuse.ts'

/** A text with places for values that the user gives. */
export type Template = readonly (string | InstallNeed)[]

/** Where a stated value stands. */
interface Place {
  readonly part: InstallNeed['part']
  readonly name: string
  readonly pointer: string
  /** True for a variable within the text of the value. */
  readonly isInner?: true
}

type Stated = VariableInput & Pick<NamedInput, 'variables'>

/** Collects the values that one target needs from its user, each with an id and a variable of its own. */
export class Needs {
  readonly needs: InstallNeed[] = []
  readonly optional: InstallNeed[] = []
  readonly #server: string
  readonly #agent: string

  /** `server`: its name in the configuration. `packageName`: the agent, whose values no other agent may get. */
  constructor(server: string, packageName: string) {
    this.#server = server
    this.#agent = hash('sha256', packageName, 'hex').slice(0, 16)
  }

  /**
   * The text of a stated value: fixed, a default, or a place for the user's value. Undefined if the value may be left
   * out. Throws Failure `not_installable` for a text that cannot stand in a configuration.
   */
  valueOf(stated: Stated, place: Place): Template | undefined {
    if (stated.value !== undefined) {
      return this.fill(
        stated.value,
        stated.variables ?? {},
        { ...place, pointer: `${place.pointer}/value` },
        stated.is_secret,
      )
    }
    if (stated.is_required) return [this.need(stated, place)]
    if (stated.default !== undefined && !stated.is_secret && isPlain(stated.default)) return [stated.default]
    this.optional.push(this.#described(stated, place, false))
    return undefined
  }

  /** A text whose names in braces stand for variables. */
  fill(
    template: string,
    variables: Readonly<Record<string, VariableInput>>,
    place: Place,
    isSecret?: boolean,
  ): Template {
    const names = variablesIn(template)
    const values = new Map<string, string | InstallNeed>(
      names.map((name) => {
        const stated = Object.hasOwn(variables, name) ? variables[name] : undefined
        if (stated?.value !== undefined) return [name, stated.value]
        const secret = stated?.is_secret ?? isSecret ?? place.part === 'header'
        return [name, this.need({ ...stated, is_secret: secret }, { ...place, name, isInner: true })]
      }),
    )
    const pieces = template
      .split(/(\{[^{}]+\})/)
      .map((piece) => (/^\{[^{}]+\}$/.test(piece) ? (values.get(piece.slice(1, -1)) ?? piece) : piece))
    return joined(pieces, place.pointer)
  }

  /** A place for a value of the user. */
  need(stated: VariableInput, place: Place): InstallNeed {
    const need = this.#described(stated, place, true)
    const same = this.needs.find(
      ({ part, name, default: usual, choices }) =>
        part === need.part &&
        name === need.name &&
        usual === need.default &&
        isDeepStrictEqual(choices, need.choices),
    )
    if (same) return same
    this.needs.push(need)
    return need
  }

  /** A value of the gateway's own programs, under the variable that they read. */
  own(variable: string, description: string, required: boolean, part: InstallNeed['part']): InstallNeed {
    const id = `${this.#server}-${variable.toLowerCase().replaceAll('_', '-')}`
    const need: InstallNeed = { id, variable, part, name: variable, description, secret: true, required }
    this.needs.push(need)
    return need
  }

  #described(stated: VariableInput, { part, name, isInner }: Place, required: boolean): InstallNeed {
    const { description = '', is_secret, default: usual, placeholder, choices } = stated
    return {
      ...this.#named(name, part === 'environment' && !isInner),
      part,
      name: oneLine(name) || 'value',
      description: oneLine(description),
      secret: is_secret ?? false,
      required,
      ...(usual !== undefined && is_secret !== true && isPlain(usual) && { default: usual }),
      ...(placeholder !== undefined && is_secret !== true && { placeholder: withoutHidden(placeholder) }),
      ...(choices?.every(isPlain) && { choices }),
    }
  }

  /**
   * Environment variables of a package have their own names. All other values get a prefix, so that no stranger's
   * header can name a variable that the user has for something else. The prefix and the id hold a digest of the whole
   * package name: `com.good/rem` and `com.evil/rem` have the same server name, and must not share values.
   */
  #named(name: string, isOwn: boolean): Pick<InstallNeed, 'id' | 'variable'> {
    const agent = `${this.#server}-${this.#agent}`
    const base = isOwn ? name : `MCP_${upper(agent)}_${upper(name)}`
    const taken = new Set([...this.needs, ...this.optional].map(({ variable }) => variable))
    let variable = base
    for (let count = 2; !isOwn && taken.has(variable); count++) variable = `${base}_${count}`
    return { id: `${agent}-${variable.toLowerCase().replaceAll('_', '-')}`, variable }
  }
}

/** The pieces of a text, of which neighbouring literals are one. */
function joined(pieces: readonly (string | InstallNeed)[], pointer: string): Template {
  const merged: (string | InstallNeed)[] = []
  for (const piece of pieces) {
    const last = merged.at(-1)
    if (piece === '') continue
    if (typeof piece === 'string' && typeof last === 'string') merged[merged.length - 1] = last + piece
    else merged.push(piece)
  }
  for (const [index, piece] of merged.entries()) {
    if (typeof piece !== 'string') continue
    // `$` before a place would make a variable of what follows.
    checkLiteral(index < merged.length - 1 && piece.endsWith('$') ? `${piece}{` : piece, pointer)
  }
  return merged
}

/** `--` would end the options of a command. */
function isPlain(text: string): boolean {
  if (text === '--') return false
  try {
    checkLiteral(text, '')
    return true
  } catch {
    return false
  }
}

/** A text of the publisher for people, on one line and without hidden characters. */
export function oneLine(text: string): string {
  return inOneLine(text).slice(0, 300)
}

function upper(text: string): string {
  return (
    text
      .toUpperCase()
      .replaceAll(/[^A-Z0-9]+/g, '_')
      .replace(/^_+|_+$/g, '') || 'VALUE'
  )
}

/** The text, with the user's values as a host writes them. */
export function write(template: Template, place: (need: InstallNeed) => string): string {
  return template.map((piece) => (typeof piece === 'string' ? piece : place(piece))).join('')
}

/** The text of a template without places; undefined if it has one. */
export function literalOf(template: Template): string | undefined {
  return template.every((piece) => typeof piece === 'string') ? template.join('') : undefined
}
